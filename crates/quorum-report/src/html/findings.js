// The findings: filters, the list, and each finding in full.

const STATES = { new: "new", persisting: "persisting", resolved: "resolved", dismissed: "dismissed", suppressed: "suppressed", not_reviewed: "not reviewed" };
const isOpen = (finding) => finding.state === "new" || finding.state === "persisting";
const place = (finding) =>
  `${finding.file}:${finding.line}${finding.end_line > finding.line ? `–${finding.end_line}` : ""}`;

function findingsPanel() {
  const findings = data.findings.map((finding, index) => ({ ...finding, index }));
  const filter = { text: "", file: "", agent: "", state: "", severities: new Set() };
  const opened = new Set(findings.filter((finding) => finding.severity === "CRITICAL" && isOpen(finding)).slice(0, 3));
  if (!opened.size && findings.length && isOpen(findings[0])) opened.add(findings[0]);

  const list = h("div", { class: "list", role: "list", "aria-label": "Findings" });
  const shown = h("span", { class: "shown", role: "status", "aria-live": "polite" });
  const growing = new Growing(list, row);

  const search = h("input", {
    type: "search", placeholder: "Filter by text, id, rule, CWE …", "aria-label": "Filter by text", autocomplete: "off",
    oninput: () => { filter.text = search.value; later(); },
  });
  const file = h("input", {
    type: "search", placeholder: "File", "aria-label": "Filter by file", list: "paths", autocomplete: "off",
    oninput: () => { filter.file = file.value; later(); },
  });
  const paths = h("datalist", { id: "paths" });
  for (const path of [...new Set(findings.map((finding) => finding.file))].sort().slice(0, 2000)) paths.append(h("option", { value: path }));
  const chips = SEVERITIES.map((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return h("button", {
      class: "chip", type: "button", "data-severity": severity, "aria-pressed": "false",
      onclick: (event) => {
        const on = filter.severities.has(severity);
        if (on) filter.severities.delete(severity);
        else filter.severities.add(severity);
        event.currentTarget.setAttribute("aria-pressed", String(!on));
        update();
      },
    }, severity[0] + severity.slice(1).toLowerCase(), h("b", {}, number(count)));
  });
  const names = [...new Set(findings.flatMap((finding) => finding.agents))].sort();
  const agent = select("Filter by agent", [["", "All agents"], ...names.map((name) => [name, title(name)])],
    () => { filter.agent = agent.value; update(); });
  const present = Object.keys(STATES).filter((state) => findings.some((finding) => finding.state === state));
  const states = [["", "All states"], ["open", "Open"], ...present.map((state) => [state, STATES[state][0].toUpperCase() + STATES[state].slice(1)])];
  if (findings.some((finding) => !finding.agreed)) states.push(["not_agreed", "Not agreed"]);
  const state = select("Filter by state", states, () => { filter.state = state.value; update(); });
  const sort = select("Sort", [["severity", "Worst first"], ["file", "By file"], ["agreed", "Most agreed"], ["confidence", "Most sure"]], update);
  const clear = h("button", { class: "quiet", type: "button", hidden: true, onclick: reset }, "Clear");

  // Typing does not wait for five thousand rows.
  let timer;
  function later() {
    clearTimeout(timer);
    timer = setTimeout(update, 60);
  }

  function reset() {
    search.value = file.value = agent.value = state.value = "";
    Object.assign(filter, { text: "", file: "", agent: "", state: "" });
    filter.severities.clear();
    chips.forEach((chip) => chip.setAttribute("aria-pressed", "false"));
    update();
  }

  function haystack(finding) {
    finding.words ??= [finding.id, finding.issue, finding.recommendation, finding.file, finding.rule, finding.category, finding.cwe,
      ...finding.agents.map(title)].join("\n").toLowerCase();
    return finding.words;
  }

  function matching() {
    const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    const path = filter.file.toLowerCase();
    return findings.filter((finding) =>
      (!filter.severities.size || filter.severities.has(finding.severity)) &&
      (!filter.agent || finding.agents.includes(filter.agent)) &&
      (!filter.state || finding.state === filter.state || (filter.state === "open" && isOpen(finding)) ||
        (filter.state === "not_agreed" && !finding.agreed)) &&
      (!path || finding.file.toLowerCase().includes(path)) &&
      words.every((word) => haystack(finding).includes(word)));
  }

  const orders = {
    severity: (a, b) => a.index - b.index,
    file: (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.index - b.index),
    agreed: (a, b) => b.corroboration - a.corroboration || a.index - b.index,
    confidence: (a, b) => b.confidence - a.confidence || a.index - b.index,
  };

  function update() {
    clearTimeout(timer);
    const items = matching().sort(orders[sort.value] || orders.severity);
    const filtered = filter.text || filter.file || filter.agent || filter.state || filter.severities.size;
    clear.hidden = !filtered;
    shown.textContent = filtered ? `${number(items.length)} of ${number(findings.length)}` : plural(findings.length, "finding", "findings");
    growing.show(items, h("p", { class: "none" }, findings.length ? "No finding matches these filters." : "No findings."));
  }

  function row(finding) {
    const open = opened.has(finding);
    const item = h("div", { class: isOpen(finding) && finding.agreed ? "finding" : "finding past", role: "listitem", id: `f-${finding.index}` });
    const who = finding.agents.map(title).join(", ");
    const button = h("button", {
      class: "row", type: "button", "aria-expanded": String(open), "data-id": finding.id,
      onclick: () => toggle(finding, item, button),
    },
      h("span", { class: "pill", "data-severity": finding.severity }, finding.severity),
      h("span", { class: "id", title: finding.id }, finding.id),
      h("span", { class: "what" },
        h("span", { class: "issue" }, prose(finding.issue || finding.category)),
        h("span", { class: "where" }, h("span", { class: "mono" }, place(finding)), h("span", {}, who),
          finding.state === "new" ? null : h("span", { class: "tag" }, STATES[finding.state]),
          finding.agreed ? null : h("span", { class: "tag" }, "not agreed"))),
      h("span", { class: "side" }, finding.corroboration > 1 ? `${number(finding.corroboration)} agree` : ""));
    item.append(button);
    if (open) item.append(detail(finding));
    return item;
  }

  function toggle(finding, item, button) {
    const open = !opened.has(finding);
    if (open) opened.add(finding);
    else opened.delete(finding);
    button.setAttribute("aria-expanded", String(open));
    if (open) item.append(detail(finding));
    else item.querySelector(".detail")?.remove();
  }

  function detail(finding) {
    const fact = (label, value) => (value ? h("span", {}, `${label} `, h("b", {}, value)) : null);
    return h("div", { class: "detail" },
      finding.code.length ? excerpt(finding.code, finding.start, finding.line, finding.end_line, finding.file) : null,
      finding.trace.length ? h("ol", { class: "steps", "aria-label": "Trace" },
        finding.trace.map(([where, note]) => h("li", {}, h("code", {}, where), " ", prose(note)))) : null,
      finding.recommendation ? h("div", { class: "prose" }, h("b", {}, "Fix"), prose(finding.recommendation)) : null,
      finding.fix ? h("div", { class: "prose" }, h("b", {}, "Put in place")) : null,
      finding.fix ? excerpt(finding.fix[1].split("\n"), finding.fix[0], 0, -1, finding.file) : null,
      finding.user_impact ? h("div", { class: "prose" }, h("b", {}, "What a user notices"), prose(finding.user_impact)) : null,
      finding.refutation ? h("div", { class: "prose" }, h("b", {}, `Refuted by ${title(finding.refutation[0])}`), prose(finding.refutation[1])) : null,
      h("div", { class: "facts" },
        fact("Seen by", finding.agents.map(title).join(", ")), fact("Rule", finding.rule), fact("Category", finding.category),
        fact("Weakness", finding.cwe), fact("Confidence", `${Math.round(finding.confidence * 100)} %`), fact("State", STATES[finding.state]),
        fact("Effort", finding.effort), fact("Confirmed by", finding.confirmed_by.map(title).join(", ")),
        fact("Disputed by", finding.disputed_by.map(title).join(", ")), fact("Spoken against by the gate", finding.refuted_by),
        finding.related.length ? h("span", {}, "Related ", finding.related.map((id) => [h("a", { href: `#${encodeURIComponent(id)}` }, id), " "])) : null),
      finding.references.length ? h("div", { class: "facts" }, finding.references.map(reference)) : null);
  }

  // Only a plain web address is a link; it is followed when it is clicked, and tells nobody where from.
  function reference(url) {
    return /^https?:\/\/[^\s]+$/.test(url) ? h("a", { href: url, rel: "noopener noreferrer" }, url) : h("span", {}, url);
  }

  // The row that has the focus, and the one `step` away from it.
  function move(step) {
    const rows = [...list.querySelectorAll(".row")];
    const at = rows.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
    if (next >= rows.length - 1) growing.grow();
    const target = list.querySelectorAll(".row")[Math.max(0, next)];
    target?.focus();
    target?.scrollIntoView({ block: "nearest" });
  }

  function reveal(id) {
    const finding = findings.find((candidate) => candidate.id === id);
    if (!finding) return false;
    reset();
    opened.add(finding);
    update();
    growing.grow(growing.items.indexOf(finding) + CHUNK);
    const item = document.getElementById(`f-${finding.index}`);
    item?.scrollIntoView({ block: "start" });
    item?.querySelector(".row").focus({ preventScroll: true });
    return true;
  }

  // Paper has no scroll bar: everything that matches, opened as far as is sensible.
  function print() {
    growing.all();
    let left = 300;
    for (const item of list.querySelectorAll(".finding")) {
      const finding = findings[Number(item.id.slice(2))];
      if (!item.querySelector(".detail") && left-- > 0) toggle(finding, item, item.querySelector(".row"));
    }
  }

  update();
  const element = h("div", {},
    h("div", { class: "bar" }, search, h("div", { class: "chips", role: "group", "aria-label": "Filter by severity" }, chips)),
    h("div", { class: "bar" }, file, agent, state, sort, paths, h("span", { class: "grow" }), shown, clear),
    list);
  return {
    element, move, print, reveal, search,
    only: (path) => { reset(); file.value = filter.file = path; update(); },
  };
}
