// Colours for code: comments, strings, numbers and keywords. Enough to read an excerpt by; where a
// language is not known, the code stays plain.

const WORDS = new Set(
  ("abstract as async await bool boolean break byte case catch chan char class const continue crate def default " +
    "defer del do double dyn elif else end enum except export extends extern false final finally float fn for from " +
    "func function go goto if impl implements import in instanceof int interface is lambda let long loop map match " +
    "mod module move mut namespace new nil None not null or and object override package pass private protected pub " +
    "public raise range readonly ref return self Self short static string struct super switch then this throw throws " +
    "trait true True False try type typeof uint union unless unsafe use using val var virtual void volatile when where " +
    "while with yield select insert update delete from join on group order by into values create table alter index " +
    "primary key").split(" "),
);

const NUMBER = /\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b/.source;
const WORD = /[A-Za-z_$][\w$]*/.source;
const DOUBLE = /"(?:\\.|[^"\\\n])*"/.source;
const SINGLE = /'(?:\\.|[^'\\\n])*'/.source;
const CHARACTER = /'(?:\\.[^'\n]*|[^'\\\n])'/.source;
const RAW = /`(?:\\.|[^`\\])*`/.source;
const TRIPLE = /"""[\s\S]*?"""|'''[\s\S]*?'''/.source;
const SLASHES = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/.source;
const HASH = /(?<![\w&$])#[^\n]*/.source;
const DASHES = /--[^\n]*/.source;
const MARKUP = /<!-{2}[\s\S]*?(?:-{2}>|$)/.source;

const grammar = (comment, string) => new RegExp(`(${comment})|(${string})|(${NUMBER})|(${WORD})`, "g");
const C = grammar(SLASHES, `${DOUBLE}|${SINGLE}|${RAW}`);
const RUST = grammar(SLASHES, `${DOUBLE}|${CHARACTER}`);
const HASHED = grammar(HASH, `${TRIPLE}|${DOUBLE}|${SINGLE}`);
const SQL = grammar(`${DASHES}|${SLASHES}`, `${DOUBLE}|${SINGLE}`);
const TAGS = grammar(MARKUP, `${DOUBLE}|${SINGLE}`);

const GRAMMARS = {};
const register = (extensions, regex) => extensions.split(" ").forEach((extension) => (GRAMMARS[extension] = regex));
register("go c h cc cpp cxx hpp cs java kt kts js jsx mjs cjs ts tsx mts swift php scala dart json jsonc css scss less proto gradle", C);
register("rs", RUST);
register("py pyi rb sh bash zsh yml yaml toml tf hcl pl r ex exs mk cmake conf ini env dockerfile makefile", HASHED);
register("sql", SQL);
register("html htm xml vue svelte svg", TAGS);

function grammarOf(path) {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return GRAMMARS[name.slice(name.lastIndexOf(".") + 1)];
}

// The lines of `lines`, each as a list of nodes.
function highlight(lines, path) {
  const regex = grammarOf(path);
  if (!regex) return lines.map((line) => [line]);
  const text = lines.join("\n");
  const rows = [[]];
  const put = (piece, kind) => {
    piece.split("\n").forEach((part, index) => {
      if (index) rows.push([]);
      if (part) rows[rows.length - 1].push(kind ? h("span", { class: kind }, part) : part);
    });
  };
  let end = 0;
  for (const match of text.matchAll(regex)) {
    const [all, comment, string, digits, word] = match;
    const kind = comment ? "c" : string ? "s" : digits ? "d" : word && isWord(word, regex) ? "k" : "";
    if (!kind) continue;
    put(text.slice(end, match.index), "");
    put(all, kind);
    end = match.index + all.length;
  }
  put(text.slice(end), "");
  return rows;
}

const isWord = (word, regex) => WORDS.has(regex === SQL ? word.toLowerCase() : word);

// An excerpt with line numbers, the lines of the finding marked.
function excerpt(lines, start, first, last, path) {
  const rows = highlight(lines, path).map((nodes, index) => {
    const line = start + index;
    const hit = line >= first && line <= last;
    const number = h("span", { class: "no" }, String(line));
    return h("span", { class: hit ? "ln hit" : "ln" }, number, h("span", { class: "tx" }, nodes.length ? nodes : [" "]));
  });
  return h("pre", { class: "code", tabindex: "0", "aria-label": `Code from ${path}` }, rows);
}
