// SPDX-License-Identifier: BSD-2-Clause
// page.js: the page: what is shown, in the address's fragment, and the controls that change it.

const $ = (id) => document.getElementById(id);
const MODES = [["flame", "Flame graph"], ["icicle", "Icicle"], ["tree", "Call tree"], ["methods", "Methods"], ["threads", "Threads"]];
const isGraph = (mode) => mode === "flame" || mode === "icicle";

const DEFAULTS = {
  views: [], mode: "flame", reverse: false, split: false, fold: false, busy: false, absolute: false, thread: "", query: "", regex: false, zoom: 0, focus: "", towards: "", hide: [], method: "", theme: "",
  from: 0, to: 0, base: "", near: "", by: "threads", sub: false, lanes: false,
};

function readFragment() {
  const state = structuredClone(DEFAULTS);
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (!Object.hasOwn(DEFAULTS, key)) continue;
    const like = DEFAULTS[key];
    if (Array.isArray(like)) state[key].push(value);
    else state[key] = typeof like === "boolean" ? value === "1" : typeof like === "number" ? Math.max(0, Math.trunc(Number(value)) || 0) : value;
  }
  if (!MODES.some(([mode]) => mode === state.mode)) state.mode = "flame";
  return state;
}

function writeFragment(state, first) {
  const params = new URLSearchParams();
  for (const [key, like] of Object.entries(DEFAULTS)) {
    const value = state[key];
    if (key === "views" && value.length === 1 && value[0] === first) continue;
    if (Array.isArray(like)) value.forEach((item) => params.append(key, item));
    else if (value !== like) params.set(key, value === true ? "1" : String(value));
  }
  const text = params.toString();
  if (text === location.hash.slice(1)) return;
  try {
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  } catch {
    // Some browsers refuse it in a sandbox, or when it comes often: what is shown is right all the same.
  }
}

class Page {
  constructor(profile) {
    this.profile = profile;
    this.panes = [];
    this.whole = new Map(); // of columns: the total without a filter
    profile.setFilter("", [], false);
    for (const column of profile.columns) this.whole.set(column, profile.whole(column));
    this.first = profile.column(profile.head.first) ?? profile.columns[0];
    this.orderGroups();
    this.tellHead();
    this.makeControls();
    this.strip = profile.time && profile.columns.some((column) => profile.isTimed(column)) ? new Strip(this) : null;
    this.restore();
    window.addEventListener("hashchange", () => this.restore());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.render());
  }

  plain() {
    return this.profile.shape(PLAIN);
  }

  sum(column, shape) {
    return this.profile.sum(column, shape, this.absolute());
  }

  // The groups with the most get the first colours.
  orderGroups() {
    const { now, all } = this.profile.byMethod(this.first);
    this.colours = new Colours(this.profile.methods, groupMethods(this.profile.methods, now, all));
    for (const [group, , kind] of this.groupSums(now)) if (kind === METHOD && group !== "the JDK") this.colours.hue(group);
  }

  // By group, the greatest first: [group, what its methods spent themselves, kind].
  groupSums({ self, ran }) {
    const sums = new Map();
    this.colours.groups.forEach((group, method) => {
      const kind = this.profile.methods.kinds[method];
      const sum = sums.get(group) ?? [group, 0, kind];
      sum[1] += kind === METHOD ? ran[method] : self[method];
      sums.set(group, sum);
    });
    return [...sums.values()].sort((a, b) => b[1] - a[1]);
  }

  // ---- the head ----

  // What ran: as the verdict of a JVM that runs names it; else the class of the outermost main() with the most.
  program() {
    const told = /^(\S+) used [\d.]+ of \d+ CPU/.exec(this.profile.head.verdict);
    if (told) return told[1];
    const { trie, total } = this.sum(this.first, this.plain());
    let best = -1;
    for (const node of trie.children(0)) {
      if (this.profile.methods.names[trie.method[node]].endsWith(".main") && (best < 0 || total[node] > total[best])) best = node;
    }
    return best < 0 ? "" : classOf(this.profile.methods.names[trie.method[best]]);
  }

  tellHead() {
    const { head, isDiff, trees } = this.profile;
    const program = this.program();
    const title = (program || "Profile") + (isDiff ? ": before and after" : "");
    $("title").textContent = title;
    const date = (ms) => new Date(ms).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
    const when = (tree) => [tree.start && date(tree.start), tree.duration && `${amount(tree.duration * 1e6, "ns")} long`].filter(Boolean).join(", ");
    const lines = head.verdict.split("\n").filter(Boolean);
    const period = lines.find((text) => /^From \d/.test(text));
    $("when").textContent = period && !isDiff ? period.replace(/\.$/, "") : isDiff ? [["before", when(trees[0])], ["after", when(head)]].filter((x) => x[1]).map((x) => x.join(": ")).join("; ") : when(head);
    document.title = `${title}, hprofx`;
    this.verdict = lines.filter((text) => text !== period);
    if (!isDiff) this.tellSentences(this.verdict);
    const facts = trees.map((tree) => this.facts(tree));
    facts.at(-1).forEach(([term, text], i) => {
      const all = [...new Set(facts.map((side) => side[i][1] || "not told"))].join(" → ");
      if (text) $("facts").append(make("div", {}, make("dt", {}, term), make("dd", {}, all)));
    });
    $("made").textContent = `hprofx ${head.version}`;
  }

  // In one paragraph: the graph is to begin within the first screen.
  tellSentences(lines) {
    if (lines.length > 0) $("verdict").replaceChildren(make("div", { className: "flow" }, ...lines.flatMap((text) => [make("p", {}, text), " "])));
  }

  // What the parts of the run that are chosen say: of one, how it differs from the rest.
  renderParts() {
    const { profile } = this;
    const column = profile.column(this.state.views[0]);
    const key = JSON.stringify([column.name, profile.parts, this.filter]);
    if (this.saidKey === key || (profile.parts.length === 0 && !this.saidKey)) return;
    this.saidKey = key;
    if (profile.parts.length === 0) this.tellSentences(this.verdict);
    else this.tellSentences(profile.isTimed(column) ? this.partSentences(column) : [`${capital(column.title)} ${/s$/.test(column.title) ? "have" : "has"} no times: what is shown is of the whole run.`]);
    if (profile.parts.length > 0 && this.verdict.length > 0) $("verdict").append(make("details", {}, make("summary", {}, "Of the whole run"), make("p", {}, this.verdict.join(" "))));
  }

  partName({ from, to, rest }) {
    return rest ? "the rest" : `${offset(from)} to ${offset(to)}`;
  }

  partSentences(column) {
    const { parts, time, columns } = this.profile;
    const pair = parts.length > 1 ? parts : [{ ...parts[0], rest: true }, parts[0]];
    const { known, rows, before, after, all, samples } = this.profile.compareParts(column, pair);
    const ns = column.unit === "ns" ? column : columns.find((c) => c.view === column.view && c.unit === "ns" && this.profile.isTimed(c));
    const sides = ns === undefined ? [] : ns === column ? all : this.profile.compareParts(ns, pair).all;
    const rate = (i) => (sides.length > 0 && lengthOf(pair[i], time) > 0 ? `${(sides[i] / (lengthOf(pair[i], time) * 1e6)).toFixed(2)} ${column.view.key === "cpu" ? "CPUs" : "threads"} on the average, ` : "");
    const tell = (i) => `${capital(this.partName(pair[i]))}${pair[i].rest ? "" : ` (${this.strip.clock(pair[i].from)} to ${this.strip.clock(pair[i].to)})`}: ${rate(i)}${told(all[i], column)}.`;
    const found = [...rows].filter(([, row]) => row[1] > 0).map(([method, row]) => {
      const what = row[1] & 1 ? "ran" : "total";
      return [row[0], what, before[what][method] / (all[0] || 1), after[what][method] / (all[1] || 1)];
    }).sort((a, b) => Math.abs(b[3] - b[2]) - Math.abs(a[3] - a[2]));
    const sentences = [tell(1), tell(0)];
    if (!pair[0].rest && pair[0].from < pair[1].to && pair[1].from < pair[0].to) sentences.push("The two overlap: what is in both counts on both sides.");
    if (!known) sentences.push("Of this view the page does not tell changes from chance.");
    else if (found.length === 0) sentences.push(Math.min(...samples) < ENOUGH ? "There are too few samples to tell changes from chance." : "No method differs beyond chance.");
    else sentences.push(`${exactly(found.length)} of ${exactly(rows.size)} methods differ${found.length === 1 ? "s" : ""} beyond chance: ${found.slice(0, 3).map(([name, what, a, b]) => `${name} ${percent(a)} → ${percent(b)}${what === "total" ? " with callees" : ""}`).join(", ")}${found.length > 3 ? " ..." : "."}`);
    return sentences;
  }

  // What diff says of the view that is shown: the same sentences as on the terminal.
  renderSaid() {
    const { said } = this.profile;
    if (this.strip) this.renderParts();
    const column = this.profile.column(this.state.views[0]);
    const key = JSON.stringify([column.name, this.absolute(), this.profile.isFiltered()]);
    if (!said || this.saidKey === key) return;
    this.saidKey = key;
    const sentences = this.profile.changes(column, this.absolute())?.said.split("\n").filter(Boolean) ?? ["Only one side has this measure."];
    if (this.profile.isFiltered()) sentences.push("Of a part of the stacks the page does not tell changes from chance.");
    this.tellSentences(sentences);
    const lines = said.conditions.flatMap(([result, text]) => text.split("\n").filter(Boolean).map((line) => make("p", { className: result }, line)));
    const words = [["fails", "fail"], ["unsure", "cannot be told"], ["passes", "pass"]].map(([result, word]) => [said.conditions.filter((c) => c[0] === result).length, word]).filter(([n]) => n > 0);
    const summary = make("summary", { className: said.conditions.some((c) => c[0] === "fails") ? "fails" : "" }, `Conditions: ${words.map(([n, word]) => `${n} ${word}`).join(", ")}`);
    if (lines.length > 0) $("verdict").append(lines.length > 2 ? make("details", {}, summary, ...lines) : make("div", {}, ...lines));
  }

  // [term, text] of what a side says, "" for nothing. What the verdict has is not said again.
  facts(tree) {
    const counted = this.profile.isDiff || / samples?: shares are right within /.test(tree.verdict);
    const cpu = tree.views.find((view) => view.key === "cpu")?.measures.find((measure) => measure.name === "samples");
    const samples = cpu ? cpu.values.reduce((a, b) => a + b, 0) : 0;
    const each = samples > 0 && tree.interval ? amount(tree.interval, "ns") : "";
    return [
      counted ? ["CPU sample every", each] : ["CPU samples", samples > 0 ? exactly(samples) + (cpu.before > 0 ? ` of ${exactly(cpu.before)}` : "") + (each ? `, one per ${each}` : "") : ""],
      ["Confidence", tree.effective > 0 && !counted ? `shares are right within ± ${(98 / Math.sqrt(tree.effective)).toFixed(1)} points` : ""],
      ["Filtered by", tree.filtered],
      ["Lost", tree.lost],
      ["Own CPU time", tree.own],
      ["Without debug information", tree.verdict.includes(tree.older) ? "" : tree.older],
    ];
  }

  // ---- controls ----

  makeControls() {
    const toggle = (id, key) => $(id).addEventListener("click", () => this.set({ [key]: !this.state[key] }));
    for (const [mode, title] of MODES) {
      const button = make("button", { type: "button" }, title);
      button.dataset.mode = mode;
      button.addEventListener("click", () => this.set({ mode }));
      $("modes").append(button);
    }
    $("reverse").addEventListener("click", () => this.set({ reverse: !this.state.reverse, focus: "", zoom: 0 }));
    $("fold").addEventListener("click", () => this.set({ fold: !this.state.fold, zoom: 0 }));
    $("busy").addEventListener("click", () => this.set({ busy: !this.state.busy, zoom: 0 }));
    $("split").addEventListener("click", () => this.set({ split: !this.state.split, zoom: 0 }));
    $("thread").addEventListener("change", () => this.chooseThread($("thread").value));
    $("theme").addEventListener("click", () => this.set({ theme: this.dark ? "light" : "dark" }));
    $("side").addEventListener("click", () => this.sideBySide());
    toggle("absolute", "absolute");
    toggle("regex", "regex");
    $("search").addEventListener("input", () => this.set({ query: $("search").value }));
    $("keys").addEventListener("click", () => $("help").showModal());
    document.addEventListener("keydown", (event) => this.key(event));
    $("absolute").hidden = !this.profile.isDiff; // parts of a run are not equally long: their shares alone compare
    this.makeViews();
  }

  // Of how much all of a column is the part that filters have left.
  of(column) {
    return column.before > 0 ? ` of ${amount(column.before, column.unit)}` : "";
  }

  // A tab for each view; live objects have their own.
  makeViews() {
    this.tabs = [];
    for (const column of this.profile.columns) {
      const title = column.name.startsWith("inuse_") ? "Live" : column.view.key === "other" ? column.title : column.view.title;
      const last = this.tabs[this.tabs.length - 1];
      if (last?.title === title) last.columns.push(column);
      else this.tabs.push({ title, columns: [column] });
    }
    for (const tab of this.tabs) {
      if (tab.title === "Live") tab.columns.sort((a, b) => (b.unit === "bytes") - (a.unit === "bytes"));
      const first = tab.columns[0];
      tab.button = make("button", { type: "button" }, make("b", {}, tab.title), make("span", {}, told(this.whole.get(first), first) + this.of(first)));
      tab.button.addEventListener("click", () => this.chooseView(tab));
    }
    $("views").append(...this.tabs.map((tab) => tab.button));
    $("views").hidden = this.tabs.length < 2 && this.tabs[0].columns.length < 2;
    $("side").hidden = this.profile.columns.length < 2;
  }

  chooseView(tab) {
    const { views } = this.state;
    const names = tab.columns.map((column) => column.name);
    if (views.length === 1) this.set({ views: [names[0]] });
    else if (!views.some((name) => names.includes(name))) this.set({ views: [...views, names[0]] });
    else if (views.length > 1) this.set({ views: views.filter((name) => !names.includes(name)) });
  }

  sideBySide() {
    const { views } = this.state;
    if (views.length > 1) {
      this.set({ views: [views[0]] });
      return;
    }
    const others = this.tabs.map((tab) => tab.columns).filter((columns) => !columns.some((c) => c.name === views[0]));
    const more = others.length > 0 ? others.slice(0, 2).map((columns) => columns[0]) : this.profile.columns.filter((c) => c.name !== views[0]).slice(0, 1);
    this.set({ views: [views[0], ...more.map((column) => column.name)] });
  }

  chooseThread(thread) {
    this.set({ thread, mode: this.state.mode === "threads" && thread ? "flame" : this.state.mode });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (event.key === "Escape" && event.target === $("search")) {
      $("search").value = "";
      this.set({ query: "" });
      this.panes[0].graph?.canvas.focus();
      event.preventDefault();
      return;
    }
    if (typing) return;
    const digit = MODES[Number(event.key) - 1];
    if (event.key === "/") $("search").focus();
    else if (event.key === "?") $("help").showModal();
    else if (event.key === "r") $("reverse").click();
    else if (event.key === "s" && !$("side").hidden) $("side").click();
    else if (event.key === "f" && !$("fold").disabled) $("fold").click();
    else if (event.key === "i" && !$("busy").hidden) $("busy").click();
    else if (event.key === "t" && this.strip) $("strip").focus();
    else if (event.key === "w" && this.strip && !$("sub").disabled) $("sub").click();
    else if (event.key === "l" && this.strip) $("lanes").click();
    else if (event.key === "v" && this.panes[0].graph) this.save(this.panes[0]);
    else if (event.key === "c" && this.state.method) this.copy(this.state.method);
    else if (digit && event.key !== " ") this.set({ mode: digit[0] });
    else if ((event.key === "Escape" || event.key === "Backspace") && this.state.zoom > 0) this.zoom(event.key === "Escape" ? 0 : Math.max(0, this.shape().trie.parent[this.state.zoom]));
    else return;
    event.preventDefault();
  }

  // ---- state ----

  restore() {
    this.state = readFragment();
    const known = this.state.views.map((name) => this.profile.column(name)?.name).filter(Boolean);
    this.state.views = known.length > 0 ? [...new Set(known)] : [this.first.name];
    if (this.state.focus && this.profile.methods.find(this.state.focus) < 0) this.state.focus = this.state.towards = ""; // of another profile
    $("search").value = this.state.query;
    this.render();
  }

  set(change) {
    Object.assign(this.state, change);
    this.render();
  }

  shape() {
    const { reverse, split, fold, focus, towards } = this.state;
    const method = focus ? this.profile.methods.find(focus) : -1;
    return this.profile.shape({ reverse: method < 0 && reverse, split, fold, focus: method, towards: method < 0 ? "" : towards === "callees" ? "callees" : "callers" });
  }

  zoom(node, quiet = false) {
    const { trie } = this.shape();
    const method = trie.method[node];
    const hasPanel = method >= 0 && this.profile.methods.kinds[method] !== THREAD;
    this.set({ zoom: node, ...(quiet || !hasPanel ? {} : { method: this.profile.methods.names[method] }) });
  }

  pick(method) {
    if (method >= 0 && this.profile.methods.kinds[method] !== THREAD) this.set({ method: this.profile.methods.names[method] });
  }

  focusOn(method, towards) {
    this.set({ focus: this.profile.methods.names[method], towards, zoom: 0, mode: isGraph(this.state.mode) || this.state.mode === "tree" ? this.state.mode : "flame" });
  }

  hide(method) {
    const name = this.profile.methods.names[method];
    const isThread = this.profile.methods.kinds[method] === THREAD; // no stack has it as a frame
    if (name !== undefined && !isThread && !this.state.hide.includes(name)) this.set({ hide: [...this.state.hide, name], zoom: 0 });
  }

  async copy(name) {
    try {
      await navigator.clipboard.writeText(name);
    } catch { // not every browser lets a file write there
      const { activeElement } = document;
      const area = make("textarea", { className: "unseen", value: name });
      (document.querySelector("dialog[open]") ?? document.body).append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      activeElement?.focus();
    }
    this.tellDone(`Copied: ${name}`);
  }

  save({ graph, name }) {
    const column = this.profile.column(name);
    const parts = this.profile.isTimed(column) ? this.profile.parts.map((part) => this.partName(part)).join(", then ") : "";
    const title = column.title + (parts && `, ${parts}`);
    const link = make("a", { download: `${[this.program() || "profile", name].join("-").replace(/[^\w.-]+/g, "_").slice(0, 120)}.svg` });
    link.href = URL.createObjectURL(new Blob([graph.svg(`${$("title").textContent}: ${title}`, (node) => [this.frameName(graph.sums, node), ...this.frameLines(graph.sums, node)].join("\n"))], { type: "image/svg+xml" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    this.tellDone(`Saved: ${link.download}`);
  }

  tellDone(text) {
    $("say").textContent = $("done").textContent = text.length > 300 ? `${text.slice(0, 300)}…` : text;
    $("done").hidden = false;
    clearTimeout(this.doneTimer);
    this.doneTimer = setTimeout(() => ($("done").hidden = true), 2500);
  }

  absolute() {
    return this.profile.trees.length > 1 && (this.state?.absolute ?? DEFAULTS.absolute);
  }

  // As diff told it, for all stacks; null: it told nothing, or something is left out.
  changes(column) {
    return this.profile.isFiltered() ? null : this.profile.changes(column, this.absolute());
  }

  // Whether the change of a method may be chance; figures: 1 of self, 2 of its total, 3 of both.
  isChance(column, method, figures = 3) {
    const changes = this.changes(column);
    return method >= 0 && changes !== null && changes.known && ((changes.rows.get(method)?.[1] ?? 0) & figures) === 0;
  }

  // A figure on one side of a comparison, in the digits of diff.
  figure(v, whole, column) {
    return this.absolute() ? amount(v, column.unit) : `${fixed((100 * v) / (whole || 1), 2)} %`;
  }

  // ---- what others ask ----

  // Half the interval of a share of `of`, at 95 %; 0: the values are exact, or nothing is known of them.
  points(column, share, of = this.sum(column, this.plain()).total[0]) {
    const { effective } = this.profile.head;
    if (column.view.key !== "cpu" || column.view.exact || effective === 0 || this.profile.isDiff) return 0;
    return uncertainty(share, (effective * of) / this.whole.get(column));
  }

  swatch(method) {
    const swatch = make("span", { className: "swatch", "aria-hidden": "true" });
    swatch.style.setProperty("--colour", this.colours.method(method));
    return swatch;
  }

  kindNote(method) {
    const kind = method < 0 ? METHOD : this.profile.methods.kinds[method];
    return kind === METHOD ? [] : [make("span", { className: "note" }, KIND_WORDS[kind])];
  }

  changeText(change, column) {
    return signed(change, (v) => (this.absolute() ? amount(v, column.unit) : `${fixed(100 * v, 2)} points`));
  }

  changeCell(change, column, chance = false) {
    const text = signed(change, (v) => (this.absolute() ? amount(v, column.unit) : fixed(100 * v, 2)));
    const [name, sign] = chance || change === 0 ? ["", ""] : change > 0 ? ["more", "▲"] : ["less", "▼"];
    return make("td", { className: `number ${name}` }, `${sign} ${text}`);
  }

  changeOf({ total, base, absolute }, node) {
    return absolute ? total[node] - base.total[node] : total[node] / (total[0] || 1) - base.total[node] / (base.total[0] || 1);
  }

  // -1 to 1, for the colour; small frames are pale, because they differ by chance.
  relative(sums, node) {
    if (this.isChance(sums.column, sums.trie.method[node])) return 0;
    const whole = sums.absolute ? sums.width[0] || 1 : 1;
    return this.changeOf(sums, node) / (2 * (sums.width[node] / (sums.absolute ? 1 : sums.width[0] || 1)) + 0.004 * whole);
  }

  valueCells(sums, node) {
    const { column, base, total, self } = sums;
    const number = (v) => make("td", { className: "number", title: inFull(v, column) }, amount(v, column.unit));
    if (base) return [this.changeCell(this.changeOf(sums, node), column, this.isChance(column, sums.trie.method[node])), number(base.total[node]), number(total[node]), number(self[node])];
    return [shareCell(total[node] / (total[0] || 1)), number(total[node]), number(self[node])];
  }

  frameName(sums, node) {
    const method = sums.trie.method[node];
    return method < 0 ? `all ${sums.column.title}` : this.profile.methods.names[method];
  }

  // What a frame says of itself: lines of text.
  frameLines(sums, node) {
    const { column, total, self, base, trie } = sums;
    const share = (v, of) => percent(of > 0 ? v / of : 0);
    const points = this.points(column, total[node] / (total[0] || 1), total[0]);
    const lines = [`${share(total[node], total[0])}${points > 0 && node !== 0 ? ` ± ${(100 * points).toFixed(1)}` : ""} of ${column.title}, ${amount(total[node], column.unit)}`];
    if (base) lines.push(`${this.changeText(this.changeOf(sums, node), column)} since before: ${share(base.total[node], base.total[0])}, ${amount(base.total[node], column.unit)}${this.isChance(column, trie.method[node]) ? "; the method's change is within chance" : ""}`);
    lines.push(`self ${share(self[node], total[0])}, ${amount(self[node], column.unit)}`);
    if (this.state.zoom > 0 && trie.isUnder(node, this.state.zoom)) lines.push(`${share(total[node], total[this.state.zoom])} of the frame zoomed to`);
    return lines;
  }

  replace(host, ...children) {
    const { scrollTop } = host;
    host.replaceChildren(...children);
    host.scrollTop = scrollTop;
  }

  // ---- rendering ----

  search() {
    const { query, regex } = this.state;
    const out = $("found");
    out.className = "";
    out.textContent = "";
    if (query === "") return null;
    let test;
    try {
      const pattern = regex ? new RegExp(query, /\p{Lu}/u.test(query) ? "u" : "iu") : null;
      const low = query.toLowerCase();
      test = regex ? (name) => pattern.test(name) : (name) => name.toLowerCase().includes(low);
    } catch {
      out.className = "bad";
      out.textContent = "This is not a regular expression.";
      return null;
    }
    const { names, kinds } = this.profile.methods;
    const hit = Uint8Array.from(names, (name, i) => (kinds[i] !== THREAD && test(name) ? 1 : 0));
    const count = hit.reduce((a, b) => a + b, 0);
    const shares = this.state.views.map((name) => this.profile.column(name)).map((column) => `${percent(this.profile.share(column, hit))} of ${column.title}`);
    out.textContent = count === 0 ? "Nothing matches." : `${shares.join(", ")} in stacks with ${exactly(count)} matching method${count === 1 ? "" : "s"}`;
    return hit;
  }

  render() {
    const { state, profile } = this;
    const hidden = state.hide.map((name) => profile.methods.find(name)).filter((method) => method >= 0);
    const filter = JSON.stringify([state.thread, hidden, state.busy]);
    if (filter !== this.filter) profile.setFilter(state.thread, hidden, state.busy);
    this.filter = filter;
    this.chooseParts();
    this.dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = this.dark ? "dark" : "light";
    this.colours.setTheme(this.dark);
    if (state.zoom >= this.shape().trie.size) state.zoom = 0;
    writeFragment(state, this.first.name);
    this.hit = this.search();
    this.renderControls();
    this.strip?.show();
    this.renderSaid();
    this.renderChips();
    this.renderPanes();
    this.renderPanel();
    $("tip").hidden = true;
  }

  // The parts of the run that the state asks for.
  parts() {
    const { from, to } = this.state;
    const before = this.base();
    return !this.strip || from >= to ? [] : [...(before ? [before] : []), { from, to, rest: false }];
  }

  // With which part what is selected is compared; null: with none.
  base() {
    const { from, to, base } = this.state;
    const [a, b] = (/^(\d+)-(\d+)$/.exec(base) ?? []).slice(1).map(Number);
    return base === "rest" && from < to ? { from, to, rest: true } : a < b ? { from: a, to: b, rest: false } : null;
  }

  chooseParts() {
    const parts = this.parts();
    const key = JSON.stringify(parts);
    if (this.partsKey === key) return;
    this.partsKey = key;
    this.profile.setParts(parts);
  }

  renderControls() {
    const { state } = this;
    const press = (button, on) => button.setAttribute("aria-pressed", String(on));
    for (const button of $("modes").children) press(button, button.dataset.mode === state.mode);
    for (const id of ["reverse", "split", "fold", "busy", "absolute", "regex"]) press($(id), state[id]);
    press($("theme"), this.dark);
    press($("side"), state.views.length > 1);
    for (const { columns: [first], button } of this.tabs) button.lastChild.textContent = this.profile.parts.length === 1 && this.profile.isTimed(first) ? `${amount(this.profile.whole(first), first.unit)} of ${told(this.whole.get(first), first)}` : told(this.whole.get(first), first) + this.of(first);
    for (const tab of this.tabs) press(tab.button, tab.columns.some((column) => state.views.includes(column.name)));
    const graphs = isGraph(state.mode) || state.mode === "tree";
    $("reverse").disabled = !graphs || state.focus !== "";
    $("fold").disabled = !graphs;
    $("busy").hidden = !this.profile.hasIdle || !(state.busy || state.views.some((name) => this.profile.column(name).view.sides.some((samples) => samples?.idle)));
    const threads = this.profile.threads(this.profile.column(state.views[0])).filter(([thread]) => thread >= 0).slice(0, MANY_THREADS).map(([thread]) => this.profile.methods.names[thread]);
    if (state.thread && !threads.includes(state.thread)) threads.unshift(state.thread);
    $("thread-tool").hidden = threads.length === 0;
    $("split").hidden = threads.length === 0;
    $("split").disabled = !graphs;
    $("thread").replaceChildren(make("option", { value: "" }, "all"), ...threads.map((name) => make("option", { value: name }, name)));
    $("thread").value = state.thread;
  }

  renderChips() {
    const { state } = this;
    const chip = (text, name, action, run) => {
      const button = make("button", { type: "button" }, action);
      button.addEventListener("click", run);
      return make("span", {}, text, make("span", { className: "name", title: name }, name), button);
    };
    const chips = state.hide.map((name) => chip("Without stacks of", name, "Show again", () => this.set({ hide: state.hide.filter((other) => other !== name), zoom: 0 })));
    if (state.focus) chips.unshift(chip(state.towards === "callees" ? "Callees of" : "Callers of", state.focus, "All stacks", () => this.set({ focus: "", towards: "", zoom: 0 })));
    if (state.thread) chips.push(chip("Thread", state.thread, "All threads", () => this.set({ thread: "" })));
    $("chips").replaceChildren(...this.partChips(), ...chips);
  }

  partChips() {
    if (!this.strip) return [];
    const { from, to } = this.state;
    const base = this.base();
    const action = (text, change) => {
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => this.set(change));
      return button;
    };
    const chip = (text, name, ...actions) => make("span", {}, text, make("span", { className: "name" }, name), ...actions);
    const before = base ? [chip("Before:", base.rest ? "the rest of the time" : this.partName(base), action("No comparison", { base: "", zoom: 0 }))] : [];
    if (from >= to) return base ? [...before, make("span", {}, "Select the part to compare with it on the time line")] : [];
    const compare = base === null ? [action("Compare with the rest", { base: "rest", zoom: 0 }), action("Compare with another part", { base: `${from}-${to}`, from: 0, to: 0, zoom: 0 })] : [];
    return [...before, chip(base ? "After:" : "Time:", this.partName({ from, to }), ...compare, action("All the time", { from: 0, to: 0, base: "", zoom: 0 }))];
  }

  makePane(name) {
    const head = make("div", { className: "pane-head" });
    const title = make("h2");
    const select = make("select", { "aria-label": "Measure" });
    for (const column of this.profile.columns) select.append(make("option", { value: column.name }, `${column.view.key === "other" ? "" : column.view.title + ": "}${column.title}`));
    const legend = make("span", { className: "legend" });
    const state = make("span", { className: "state" });
    const save = make("button", { type: "button", title: "Save the graph as a picture (v)" }, "Save SVG");
    const body = make("div");
    head.append(title, select, legend, state, save);
    const pane = { name, title, select, legend, state, save, body, section: make("section", { className: "pane" }, head, body), mode: "" };
    save.addEventListener("click", () => this.save(pane));
    select.addEventListener("change", () => this.set({ views: this.state.views.map((view) => (view === pane.name ? select.value : view)).filter((view, i, all) => all.indexOf(view) === i) }));
    select.hidden = this.profile.columns.length < 2;
    title.className = select.hidden ? "" : "unseen"; // the choice says the same
    return pane;
  }

  renderPanes() {
    const { views } = this.state;
    while (this.panes.length > views.length) this.panes.pop().section.remove();
    while (this.panes.length < views.length) {
      const pane = this.makePane(views[this.panes.length]);
      this.panes.push(pane);
      $("panes").append(pane.section);
    }
    this.panes.forEach((pane, i) => this.renderPane(pane, views[i]));
  }

  renderPane(pane, name) {
    const { mode, zoom } = this.state;
    const column = this.profile.column(name);
    const sums = this.sum(column, this.shape());
    pane.name = name;
    pane.select.value = name;
    pane.title.textContent = column.view.key === "other" ? column.title : column.view.title;
    pane.section.setAttribute("aria-label", column.title);
    const kind = isGraph(mode) ? "graph" : mode;
    if (pane.mode !== kind) this.fillPane(pane, kind);
    const { total, base } = kind === "graph" || kind === "tree" ? sums : this.sum(column, this.plain());
    const at = kind === "graph" && sums.width[zoom] > 0 ? zoom : 0; // as the graph does: it does not zoom to what has no width
    pane.save.hidden = kind !== "graph";
    this.renderLegend(pane, column);
    const isTold = !base && at === 0 && !$("views").hidden && total[0] === this.whole.get(column) && this.tabs.some((tab) => tab.columns[0] === column);
    const untimed = this.profile.parts.length > 0 && !this.profile.isTimed(column) ? "of the whole run: " : "";
    pane.state.textContent = isTold ? "" : `${untimed}${told(total[at], column)}${at > 0 || base ? "" : this.of(column)}${at > 0 ? ` in view of ${amount(total[0], column.unit)}` : ""}${base ? `, before ${amount(base.total[at], column.unit)}` : ""}`;
    if (kind !== "graph") pane.host.setAttribute("aria-label", `${MODES.find(([m]) => m === kind)[1]}: ${column.title}`);
    if (kind === "graph") this.renderGraph(pane, sums);
    else if (kind === "tree") pane.tree.show(sums);
    else if (kind === "methods") pane.methods.show(column, this.hit);
    else threadTable(pane.host, column, this);
  }

  fillPane(pane, kind) {
    Object.assign(pane, { mode: kind, graph: null, tree: null, methods: null });
    pane.host = make("div", { className: kind === "graph" ? "plot" : "scroll", tabIndex: kind === "graph" ? -1 : 0 });
    pane.body.replaceChildren(pane.host);
    if (kind === "graph") pane.graph = this.makeGraph(pane);
    else if (kind === "tree") pane.tree = new CallTree(pane.host, pane, this);
    else if (kind === "methods") pane.methods = new MethodTable(pane.host, pane, this);
    if (kind !== "graph") pane.host.setAttribute("role", "region");
  }

  makeGraph(pane) {
    const sums = () => pane.graph.sums;
    return new Graph(pane.host, this.profile.methods, this.colours, {
      zoom: (node, quiet) => this.zoom(node, quiet),
      pick: (node) => this.pick(sums().trie.method[node]),
      hide: (node) => this.hide(sums().trie.method[node]),
      copy: (node) => this.copy(this.frameName(sums(), node)),
      point: (node, event) => this.point(sums(), node, event),
      say: (node) => ($("say").textContent = [this.frameName(sums(), node), ...this.frameLines(sums(), node), `level ${sums().trie.depth[node]}`].join(", ")),
      sign: (node) => signed(this.changeOf(sums(), node), (v) => (this.absolute() ? amount(v, sums().column.unit) : (100 * v).toFixed(1))),
    });
  }

  renderGraph(pane, sums) {
    const { state } = this;
    pane.graph.show({
      sums, up: state.mode === "flame", hit: this.hit, zoom: state.zoom, mark: state.method ? this.profile.methods.find(state.method) : -1,
      change: this.profile.isDiff ? (node) => this.relative(sums, node) : null,
      label: `${state.mode === "flame" ? "Flame graph" : "Icicle"} of ${sums.column.title}, ${amount(sums.total[0], sums.column.unit)}. Arrow keys go from frame to frame, Enter zooms. The call tree is the same as a table.`,
    });
  }

  renderPanel() {
    const method = this.state.method ? this.profile.methods.find(this.state.method) : -1;
    const shown = method >= 0;
    $("panel").hidden = !shown;
    document.querySelector(".work").classList.toggle("two", shown);
    const key = JSON.stringify([method, this.state.views[0], this.filter, this.partsKey, this.absolute(), this.dark]);
    if (!shown || this.panelKey === key) return;
    this.panelKey = key;
    methodPanel($("method"), method, this.profile.column(this.state.views[0]), this);
    const close = make("button", { type: "button", className: "close" }, "Close");
    close.addEventListener("click", () => this.set({ method: "" }));
    $("method").prepend(close);
  }

  // Of a column: [colour, text].
  legend(column) {
    if (this.profile.isDiff && isGraph(this.state.mode)) return [[1, "more than before"], [0, this.changes(column)?.known ? "the same, or within chance" : "the same"], [-1, "less than before"]].map(([change, text]) => [this.colours.change(change), text]);
    const { now, all } = this.profile.byMethod(column);
    const sums = this.groupSums(now).filter(([, v]) => v >= all / 1000);
    const states = sums.filter(([, , kind]) => kind === STATE);
    const entry = ([group, v, kind]) => [this.colours.group(group), (kind === STATE ? group.slice(6) : group) + (kind === STATE || states.length === 0 ? ` ${percent(v / (all || 1))}` : "")];
    return [...states, ...sums.filter(([, , kind]) => kind === METHOD).slice(0, states.length > 0 ? 3 : 7)].map(entry).concat(sums.some(([, , kind]) => kind === CLASS) ? [[this.colours.group("classes"), "classes"]] : []);
  }

  renderLegend(pane, column) {
    const key = JSON.stringify([column.name, this.state.mode, this.filter, this.partsKey, this.dark, this.absolute()]);
    if (pane.legendKey === key) return;
    pane.legendKey = key;
    pane.legend.replaceChildren(...this.legend(column).map(([colour, text]) => {
      const swatch = make("span", { className: "swatch", "aria-hidden": "true" });
      swatch.style.setProperty("--colour", colour);
      return make("span", {}, swatch, text);
    }));
  }

  point(sums, node, event) {
    if (node < 0) this.tip(null);
    else this.tip(event, this.frameName(sums, node), this.frameLines(sums, node));
  }

  // Shows lines of text where the pointer is; event null: shows none.
  tip(event, name, lines) {
    const tip = $("tip");
    tip.hidden = event === null;
    if (event === null) return;
    tip.replaceChildren(make("div", { className: "name" }, name), ...lines.map((text) => make("div", {}, text)));
    const { width, height } = tip.getBoundingClientRect();
    const x = event.clientX + 14 + width > innerWidth ? Math.max(4, event.clientX - width - 10) : event.clientX + 14;
    const y = event.clientY + 16 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 16;
    tip.style.left = `${x}px`;
    tip.style.top = `${y}px`;
  }
}

async function open() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack it (DecompressionStream)");
  const { trees, said } = await unpack($("data").textContent);
  $("data").remove();
  DEFAULTS.absolute = said?.absolute ?? false; // as was asked for
  const page = new Page(new Profile(trees, said));
  document.documentElement.dataset.ready = String(Math.round(performance.now())); // milliseconds since the page was asked for
  return page;
}

open().catch((error) => {
  $("notice").textContent = `The profile cannot be shown: ${error.message}.`;
  $("notice").hidden = false;
});
