// Who looked at what: files by agents.

const CELLS = {
  r: ["r", "●", "reviewed"],
  p: ["p", "◐", "in part"],
  d: ["d", "◌", "read: searched for secrets, hidden characters and injections alone"],
  s: ["s", "○", "skipped"],
  u: ["u", "✕", "unreadable"],
  "-": ["o", "·", "not in its domain"],
};

function coveragePanel(showFile) {
  const counts = new Map();
  for (const finding of data.findings) if (isOpen(finding)) counts.set(finding.file, (counts.get(finding.file) || 0) + 1);
  const rank = (file) => (/^-*$/.test(file.states) ? 3 : /[su]/.test(file.states) ? 2 : file.states.includes("p") ? 1 : 0);
  const files = data.files.map((file, index) => ({ ...file, index, found: counts.get(file.path) || 0, rank: rank(file) }));
  const order = { by: "path", down: false };

  const body = h("tbody", {});
  const shown = h("span", { class: "shown", role: "status", "aria-live": "polite" });
  const search = h("input", { type: "search", placeholder: "Filter files", "aria-label": "Filter files", oninput: () => later(), autocomplete: "off" });
  const which = select("Which files", [["", "All files"], ["gaps", "With gaps"], ["uncovered", "Not covered"], ["sensitive", "Security-sensitive"], ["found", "With findings"]], () => update());

  const columns = [["path", "File"], ["found", "Findings"], ["tokens", "Tokens"], ["rank", "Gaps"]];
  const heads = columns.map(([key, label]) => h("th", { scope: "col", "aria-sort": key === "path" ? "ascending" : "none" },
    h("button", { type: "button", onclick: () => sortBy(key) }, label)));
  const table = h("table", {},
    h("thead", {}, h("tr", {}, heads, data.agents.map((agent) => h("th", { scope: "col", class: "agent" }, agent.title)))), body);
  const list = h("div", { class: "list map" }, table);
  const growing = new Growing(body, row);

  let timer;
  function later() {
    clearTimeout(timer);
    timer = setTimeout(update, 60);
  }

  function sortBy(key) {
    order.down = order.by === key ? !order.down : key !== "path";
    order.by = key;
    columns.forEach(([other], index) => heads[index].setAttribute("aria-sort", other !== key ? "none" : order.down ? "descending" : "ascending"));
    update();
  }

  const tests = {
    gaps: (file) => file.rank > 0,
    uncovered: (file) => !/[rpd]/.test(file.states),
    sensitive: (file) => file.sensitive,
    found: (file) => file.found > 0,
  };

  function update() {
    clearTimeout(timer);
    const text = search.value.toLowerCase();
    const test = tests[which.value] || (() => true);
    const items = files.filter((file) => test(file) && file.path.toLowerCase().includes(text));
    const sign = order.down ? -1 : 1;
    items.sort((a, b) => (a[order.by] < b[order.by] ? -sign : a[order.by] > b[order.by] ? sign : a.index - b.index));
    shown.textContent = items.length === files.length ? plural(files.length, "file", "files") : `${number(items.length)} of ${number(files.length)}`;
    growing.show(items, h("tr", {}, h("td", { colspan: String(columns.length + data.agents.length), class: "none" }, "No file matches.")));
  }

  function row(file) {
    const slash = file.path.lastIndexOf("/") + 1;
    const found = file.found
      ? h("button", { class: "link", type: "button", onclick: () => showFile(file.path), "aria-label": `Show ${plural(file.found, "finding", "findings")} in ${file.path}` }, number(file.found))
      : "";
    const cells = data.agents.map((agent, index) => {
      const [kind, sign, words] = CELLS[file.states[index]] || CELLS["-"];
      const lines = file.lines?.[index];
      const hint = `${agent.title}: ${words}${lines ? `, lines ${lines}` : ""}`;
      return h("td", {}, h("span", { class: `cell ${kind}`, title: hint, role: "img", "aria-label": hint }, sign));
    });
    const missing = [...file.states].filter((state) => "spu".includes(state)).length;
    return h("tr", {},
      h("td", { class: "path" }, h("span", { class: "dir" }, file.path.slice(0, slash)), file.path.slice(slash), file.sensitive ? [" ", h("span", { class: "tag" }, "sensitive")] : null),
      h("td", {}, found), h("td", { class: "num" }, number(file.tokens)), h("td", {}, missing ? number(missing) : ""), cells);
  }

  function gaps() {
    const rows = [
      ...data.uncovered.map((path) => h("li", {}, h("span", { class: "who" }, "Nobody looked at"), h("code", {}, path))),
      ...data.gaps.slice(0, 500).map((gap) => h("li", {},
        h("span", { class: "who" }, `${gap.agent}${gap.reason ? ` (${gap.reason})` : ""}`), gap.command ? [h("code", {}, gap.command), copyable(gap.command)] : gap.path)),
    ];
    if (!rows.length) return null;
    const more = data.gaps.length - 500;
    if (more > 0) rows.push(h("li", { class: "muted" }, `… and ${number(more)} more`));
    return h("div", { class: "after" }, h("h3", {}, "Close the gaps"), h("ul", { class: "list gaps" }, rows));
  }

  update();
  const legend = h("div", { class: "legend" }, Object.values(CELLS).map(([kind, sign, words]) => h("span", {}, h("span", { class: `cell ${kind}`, "aria-hidden": "true" }, sign), words)));
  const element = h("div", {}, h("div", { class: "bar" }, search, which, legend, h("span", { class: "grow" }), shown), list, gaps());
  return { element, search, print: () => growing.all() };
}
