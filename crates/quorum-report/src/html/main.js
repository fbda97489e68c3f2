// The page: numbers at the top, tabs, keys.

function tiles() {
  const open = data.findings.filter((finding) => isOpen(finding) && finding.agreed);
  const worst = SEVERITIES.map((severity) => [severity, open.filter((finding) => finding.severity === severity).length]).filter(([, count]) => count);
  const seen = data.files.filter((file) => /[rp]/.test(file.states)).length;
  const share = data.files.length ? Math.floor((seen / data.files.length) * 100) : 0;
  const used = sum(data.agents, (agent) => agent.tokens);
  const usd = sum(data.agents, (agent) => agent.usd);
  const ran = Date.parse(data.ended) - Date.parse(data.started);
  const taken = ran >= 0 ? ran : data.timeline.length ? spanOf() : null;
  const vetoes = data.agents.filter((agent) => agent.verdict === "VETO").length;
  const tile = (label, value, note) => h("dl", { class: "tile" }, h("dt", {}, label), h("dd", {}, value, note ? h("small", { title: note }, note) : null));
  const words = worst.slice(0, 2).map(([severity, count]) => `${number(count)} ${severity.toLowerCase()}`).join(", ");
  document.getElementById("tiles").append(
    tile("Open findings", number(open.length), words || "none"),
    tile("Files reviewed", `${share} %`, `${number(seen)} of ${number(data.files.length)}`),
    tile("Agents", number(data.agents.length), vetoes ? plural(vetoes, "veto", "vetoes") : "no veto"),
    tile("Tokens under review", number(data.scope.tokens), used ? `${number(used)} in and out` : "nothing was sent"),
    tile("Cost", usd > 0 ? money(usd) : "$0", usd > 0 ? plural(sum(data.agents, (agent) => agent.calls), "call", "calls") : "nothing was paid"),
    tile("Time", taken === null ? "–" : duration(taken), `${data.scope.tier.toLowerCase()} change`));
}

function page() {
  const made = new Map();
  const tabs = [
    ["findings", "Findings", data.findings.length, findingsPanel],
    ["coverage", "Coverage", data.files.length, () => coveragePanel((path) => { open("findings"); made.get("findings").only(path); })],
    ["agents", "Agents", data.agents.length, () => ({ element: agentsPanel() })],
    ["run", "Run", null, () => ({ element: runPanel() })],
  ];
  const panels = tabs.map(([name, label]) => h("section", { class: "panel", id: name, role: "tabpanel", "aria-labelledby": `tab-${name}`, hidden: true }, h("h2", {}, label)));
  const buttons = tabs.map(([name, label, count], index) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": name, "aria-selected": "false", tabindex: "-1", onclick: () => open(name),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (index + step + tabs.length) % tabs.length;
      open(tabs[next][0]);
      buttons[next].focus();
      event.preventDefault();
    },
  }, label, count === null ? null : h("span", { class: "n" }, number(count))));

  // A panel is made when it is first looked at.
  function make(name) {
    const index = tabs.findIndex(([other]) => other === name);
    if (!made.has(name)) {
      const panel = tabs[index][3]();
      made.set(name, panel);
      panels[index].append(panel.element);
    }
    return made.get(name);
  }

  let current = "findings";
  function open(name) {
    current = name;
    make(name);
    tabs.forEach(([other], index) => {
      panels[index].hidden = other !== name;
      buttons[index].setAttribute("aria-selected", String(other === name));
      buttons[index].tabIndex = other === name ? 0 : -1;
    });
  }

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  }

  const keys = [["/", "filter"], ["j k", "next and previous finding"], ["Enter", "open or close it"], ["1 – 4", "findings, coverage, agents, run"], ["t", "light or dark"], ["Esc", "clear the filter"], ["?", "these keys"]];
  const help = h("dialog", { "aria-label": "Keys" }, h("h3", {}, "Keys"),
    h("dl", {}, keys.flatMap(([key, what]) => [h("dt", {}, key.split(" ").map((part) => [h("kbd", {}, part), " "])), h("dd", {}, what)])),
    h("button", { class: "quiet", type: "button", onclick: () => help.close() }, "Close"));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && typing && event.target.type === "search") {
      event.target.value = "";
      event.target.dispatchEvent(new Event("input"));
      event.target.blur();
      return;
    }
    if (typing) return;
    const tab = tabs[Number(event.key) - 1];
    const actions = {
      "/": () => { if (!made.get(current).search) open("findings"); made.get(current).search.focus(); },
      j: () => { open("findings"); made.get("findings").move(1); },
      k: () => { open("findings"); made.get("findings").move(-1); },
      t: theme,
      "?": () => help.showModal(),
    };
    const action = actions[event.key] || (tab && (() => open(tab[0])));
    if (!action) return;
    event.preventDefault();
    action();
  });

  function follow() {
    const target = decodeURIComponent(location.hash.slice(1));
    if (tabs.some(([name]) => name === target)) return open(target);
    if (!target || target === "main") return;
    open("findings");
    made.get("findings").reveal(target);
  }

  addEventListener("beforeprint", () => {
    tabs.forEach(([name]) => make(name).print?.());
    document.querySelectorAll("details").forEach((details) => (details.open = true));
  });
  addEventListener("hashchange", follow);

  document.getElementById("tools").append(
    h("button", { class: "quiet", type: "button", onclick: theme, "aria-label": "Switch between light and dark" }, "Theme"),
    h("button", { class: "quiet", type: "button", onclick: () => help.showModal(), "aria-label": "Keys" }, "?"));
  document.getElementById("app").append(h("div", { class: "tabs", role: "tablist", "aria-label": "Report" }, buttons), panels[0], panels[1], panels[2], panels[3], help);
  open(data.gated ? "run" : "findings");
  follow();
}

tiles();
page();
performance.mark("ready");
document.documentElement.dataset.ready = "true";
