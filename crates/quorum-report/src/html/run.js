// The agents, and how the run went.

const spanOf = () => Math.max(1, ...data.timeline.map((row) => row.end));

function agentsPanel() {
  return h("div", { class: "cards" }, data.agents.map(card));
}

function card(agent) {
  const share = agent.budget ? agent.used / agent.budget : 0;
  const level = (severity, count) => h("span", { class: count ? "some" : "", "data-severity": severity }, h("b", {}, number(count)), severity[0] + severity.slice(1).toLowerCase());
  const fill = h("i", {});
  fill.style.width = `${Math.min(100, share * 100)}%`;
  const marks = [80, 95, 98].map((percent) => {
    const mark = h("u", {});
    mark.style.left = `${percent}%`;
    return mark;
  });
  const pair = (label, value) => h("div", { class: "pair" }, h("span", {}, label), h("b", {}, value));
  const files = agent.reviewed + agent.skipped + (agent.read || 0);
  const offline = !agent.used && !agent.tokens;
  return h("article", { class: "card" },
    h("header", {}, h("h3", {}, agent.title), h("span", { class: "pill", "data-agent": agent.verdict }, agent.verdict)),
    h("div", { class: "sub" }, agent.model ? `${agent.engine} · ${agent.model}` : agent.engine),
    agent.vetoes.slice(0, 3).map((why) => h("div", { class: "warn veto" }, prose(why.replace(`${agent.name} `, "")))),
    agent.vetoes.length > 3 ? h("div", { class: "sub" }, `and ${plural(agent.vetoes.length - 3, "more veto", "more vetoes")}`) : null,
    agent.left_out ? h("div", { class: "warn" }, `Left out: ${agent.left_out}`) : null,
    agent.partial ? h("div", { class: "warn" }, `Partial: ${agent.partial}; ${plural(agent.skipped, "file", "files")} skipped`) : null,
    h("div", { class: "sev" }, SEVERITIES.map((severity, index) => level(severity, agent.counts[index]))),
    offline ? h("div", {}, pair("Budget", `${number(agent.budget)} tokens, not needed offline`)) :
    h("div", {}, pair("Budget", `${number(agent.used)} of ${number(agent.budget)} tokens (${Math.round(share * 100)} %)`),
      h("div", { class: share >= 0.8 ? "meter hot" : "meter", role: "img", "aria-label": `${Math.round(share * 100)} % of the budget used` }, fill, marks)),
    spark(agent),
    h("div", {}, pair("Files", `${number(agent.reviewed)} of ${number(files)}${agent.read ? `, ${number(agent.read)} only read` : ""}`), agent.not_compared ? pair("Advisories", agent.not_compared) : null, offline ? null : [pair("Calls", number(agent.calls)),
      pair("Tokens sent and received", number(agent.tokens)), pair("Cost", agent.usd > 0 ? money(agent.usd) : "nothing")]));
}

// How the budget was used over time: a step for each call.
function spark(agent) {
  const row = data.timeline.find((candidate) => candidate.agent === agent.name);
  if (!row || !row.charges.length || !agent.budget) return null;
  const total = spanOf();
  const x = (time) => ((time / total) * 100).toFixed(2);
  const y = (used) => (40 - Math.min(1, used / agent.budget) * 40).toFixed(2);
  let line = `M${x(row.start)} 40`;
  for (const [time, used] of row.charges) line += `H${x(time)}V${y(used)}`;
  line += `H${x(row.end)}`;
  const chart = svg("svg", { class: "spark", viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img" },
    svg("title", {}, `Budget of ${agent.title} over the run: ${plural(row.charges.length, "charge", "charges")}`));
  for (const percent of [80, 95]) chart.append(svg("line", { class: "limit", x1: 0, x2: 100, y1: 40 - percent * 0.4, y2: 40 - percent * 0.4 }));
  chart.append(svg("path", { class: "area", d: `${line}V40H${x(row.start)}Z` }), svg("path", { class: "path", d: line }));
  return h("div", {}, h("div", { class: "pair" }, h("span", {}, "Budget over the run"), h("span", {}, duration(total))), chart);
}

function runPanel() {
  const more = [gatesBox(), sopsBox(), notesBox()].filter(Boolean);
  return h("div", {}, timeline(), h("div", { class: "two" }, scopeBox(), more.length ? h("div", {}, more) : null));
}

function timeline() {
  if (!data.timeline.length) return null;
  const total = spanOf();
  const at = (element, time) => {
    element.style.left = `${(time / total) * 100}%`;
    return element;
  };
  const lanes = data.timeline.map((row) => {
    const span = at(h("span", { class: "span", title: `${duration(row.start)} to ${duration(row.end)}` }), row.start);
    span.style.width = `${((row.end - row.start) / total) * 100}%`;
    const dots = row.findings.slice(0, 200).map(([time, severity]) => at(h("span", { class: "dot", "data-severity": severity, title: `${severity} at ${duration(time)}` }), time));
    return h("div", { class: "lane" }, h("span", {}, title(row.agent)), h("div", { class: "track" }, span, dots), h("span", {}, duration(row.end - row.start)));
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => at(h("span", { class: "tick" }, duration(total * part)), total * part));
  return h("div", { class: "list time", role: "group", "aria-label": "Timeline" }, lanes, h("div", { class: "lane axis" }, h("span", {}), h("div", { class: "track" }, ticks), h("span", {})));
}

// A time without the parts of seconds that nobody reads.
const when = (time) => time && time.replace(/^(.{10})T(.{8}).*$/, "$1 $2 UTC");

const box = (heading, ...content) => h("section", { class: "box" }, h("h3", {}, heading), content);

function scopeBox() {
  const rows = [["Scope", data.scope.label], ["Base", data.scope.base], ["Head", data.scope.head], ["Files", number(data.files.length)], ["Tokens", number(data.scope.tokens)],
    ["Tier", data.scope.tier], ["Protocol", data.scope.protocol], ["Isolation", data.scope.isolation], ["Started", when(data.started)], ["Ended", when(data.ended)],
    ["Run", data.run], ["Exit code", String(data.exit_code)], ["Version", data.version]];
  return box("This run", h("dl", {}, rows.filter(([, value]) => value).flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])));
}

function gatesBox() {
  if (!data.gates.length) return null;
  const tone = { passed: "OK", failed: "VETO", timed_out: "VETO", not_run: "ERROR", skipped: "" };
  return box("Gates", h("ul", {}, data.gates.map((gate) => h("li", {},
    h("span", { class: "pill", "data-agent": tone[gate.status] }, gate.outcome), " ", gate.name, gate.required ? "" : " (optional)", " ",
    h("code", { class: "muted" }, gate.command), gate.output ? h("pre", {}, gate.output) : null))));
}

function sopsBox() {
  if (!data.sops.length) return null;
  const tone = { passed: "OK", violated: "VETO", not_applicable: "", not_reviewed: "ERROR", not_checked: "" };
  return box("Standing orders", h("ul", {}, data.sops.map((sop) => h("li", {},
    h("span", { class: "pill", "data-agent": sop.status === "violated" && sop.severity !== "error" ? "WARN" : tone[sop.status] }, sop.status.replaceAll("_", " ")),
    " ", sop.name, sop.evidence ? h("div", { class: "muted" }, prose(sop.evidence)) : null))));
}

function notesBox() {
  const rejected = Object.entries(data.rejected).map(([reason, count]) => `${plural(count, "finding was", "findings were")} not published: ${reason}`);
  const notes = [...data.warnings, ...rejected];
  return notes.length ? box("Notes", h("ul", {}, notes.map((note) => h("li", {}, prose(note))))) : null;
}
