// SPDX-License-Identifier: BSD-2-Clause
// tables.js: numbers as text, and the tables: call tree, methods, threads, and what is known of one method.

// An element; strings among its children are text.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element) element[key] = value;
    else if (value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// A name that may be broken behind its dots.
function breakable(name) {
  const parts = name.split(/(?<=[.$])/).slice(0, 60);
  return [...parts.flatMap((part) => [part, make("wbr")]), name.slice(parts.join("").length)];
}

const named = (name) => make("span", { className: "name" }, ...breakable(name));
const nameButton = (name, more = {}) => make("button", { type: "button", className: "link name", ...more }, ...breakable(name));

const exactly = (v) => v.toLocaleString("en");

function scaled(v, steps) {
  const [unit, name] = steps.find(([least]) => Math.abs(v) >= least) ?? steps[steps.length - 1];
  const n = v / unit;
  return `${n.toLocaleString("en", { maximumFractionDigits: Math.abs(n) >= 100 || unit === 1 ? 0 : Math.abs(n) >= 10 ? 1 : 2 })} ${name}`;
}

const UNITS = {
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]],
  bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "bytes"]],
};

const amount = (v, unit) => (UNITS[unit] ? scaled(v, UNITS[unit]) : exactly(v));
// With the unit, for a place where nothing else says what is counted.
const told = (v, column) => (UNITS[column.unit] ? amount(v, column.unit) : `${amount(v, column.unit)} ${v === 1 ? column.title.replace(/s$/, "") : column.title}`);
const inFull = (v, column) => `${exactly(v)} ${column.unit === "ns" ? "ns" : column.unit === "bytes" ? "bytes" : column.title}`;
const signed = (v, text) => (v > 0 ? "+" : v < 0 ? "−" : "±") + text(Math.abs(v));

// As printf() rounds, to even: the terminal and the page show the same digits.
function fixed(v, n) {
  const digits = v.toFixed(n + 40);
  const at = digits.length - 40;
  return /^50*$/.test(digits.slice(at)) && /[02468]\.?$/.test(digits.slice(0, at)) ? digits.slice(0, n === 0 ? at - 1 : at) : v.toFixed(n);
}

// The change of a figure in percent, as diff tells it.
function relative(before, after) {
  if (before <= 0) return after > 0 ? "new" : "none";
  const change = 100 * (after / before - 1);
  return after <= 0 ? "gone" : `${change < 0 ? "−" : "+"}${fixed(Math.abs(change), change < 1000 ? 1 : 0)} %`;
}

function percent(share) {
  const p = 100 * share;
  return `${p.toFixed(p >= 99.95 || p === 0 ? 0 : p >= 9.95 ? 1 : 2)} %`;
}

// Cells of a share: the number, with a bar behind it.
function shareCell(share, more = {}) {
  const cell = make("td", { className: "number share", ...more }, percent(share));
  cell.style.setProperty("--share", `${Math.max(0, Math.min(100, 100 * share))}%`);
  return cell;
}

// page: { profile, sums(pane), pickMethod(method), column(pane), points(column, share), change(...) }
class CallTree {
  constructor(host, pane, page) {
    Object.assign(this, { host, pane, page, open: new Set(), cursor: 0, more: new Map() });
  }

  show(sums) {
    if (this.shape !== sums.shape) {
      this.shape = sums.shape;
      this.open = new Set([0]);
      this.more.clear();
      this.cursor = 0;
      this.openHot(sums, 0);
    }
    this.sums = sums;
    this.render();
  }

  // The way down on which most goes, as far as one callee has most of its caller.
  openHot(sums, node) {
    for (let steps = 0; steps < 40; steps++) {
      this.open.add(node);
      const best = this.sorted(sums, node)[0];
      if (best === undefined || sums.width[best] < sums.width[node] / 2) break;
      node = best;
    }
  }

  sorted(sums, node) {
    return [...sums.trie.children(node)].filter((child) => sums.width[child] > 0).sort((a, b) => sums.width[b] - sums.width[a]);
  }

  rows() {
    const rows = [];
    const add = (node) => {
      const children = this.sorted(this.sums, node);
      rows.push({ node, leaf: children.length === 0 });
      if (!this.open.has(node)) return;
      const shown = this.more.get(node) ?? 60;
      children.slice(0, shown).forEach(add);
      if (children.length > shown) rows.push({ node, rest: children.length - shown, shown });
    };
    add(0);
    return rows;
  }

  render() {
    const { page, sums } = this;
    const { column, base } = sums;
    const heads = base ? [page.absolute() ? "Change" : "Change, points", "Before", "After", "Self", "Frame"] : ["Total", column.title, "Self", "Frame"];
    this.visible = this.rows();
    if (!this.visible.some(({ node }) => node === this.cursor)) this.cursor = 0; // a filter took its row: Tab must find another
    const body = make("tbody");
    const table = make("table", { className: "calltree", role: "treegrid", "aria-label": `Call tree of ${column.title}` },
      make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", className: text === "Frame" ? "" : "number" }, text)))), body);
    body.append(...this.visible.map((row) => (row.rest ? this.restRow(row, heads.length) : this.row(row))));
    table.addEventListener("keydown", (event) => this.key(event));
    page.replace(this.host, table);
  }

  row({ node, leaf }) {
    const { sums, page, open } = this;
    const { trie, column } = sums;
    const depth = trie.depth[node];
    const name = page.frameName(sums, node);
    const toggle = make("span", { className: "toggle", "aria-hidden": "true" }, leaf ? "" : open.has(node) ? "▾" : "▸");
    const frame = make("td", { className: "frame" }, toggle, named(name), ...page.kindNote(trie.method[node]));
    frame.style.setProperty("--depth", depth);
    const row = make("tr", { "aria-level": depth + 1, tabIndex: node === this.cursor ? 0 : -1, className: `${node === this.cursor ? "cursor" : ""}${page.isChance(column, trie.method[node]) ? " chance" : ""}` },
      ...page.valueCells(sums, node), frame);
    row.dataset.node = node;
    if (!leaf) row.setAttribute("aria-expanded", open.has(node));
    row.addEventListener("click", () => {
      this.cursor = node;
      if (!leaf) this.toggle(node);
      else this.render();
      page.pick(this.sums.trie.method[node]);
      this.focus();
    });
    return row;
  }

  restRow({ node, rest, shown }, columns) {
    const button = make("button", { type: "button", className: "link" }, `${exactly(rest)} more`);
    button.addEventListener("click", () => {
      this.more.set(node, shown + 200);
      this.cursor = this.sorted(this.sums, node)[shown];
      this.render();
      this.focus(); // the button is gone
    });
    const cell = make("td", { colSpan: columns, className: "frame" }, button);
    cell.style.setProperty("--depth", this.sums.trie.depth[node] + 1);
    return make("tr", { "aria-level": this.sums.trie.depth[node] + 2 }, cell);
  }

  toggle(node) {
    if (!this.open.delete(node)) this.openHot(this.sums, node);
    this.render();
  }

  focus() {
    this.host.querySelector(`tr[data-node="${this.cursor}"]`)?.focus();
  }

  key(event) {
    if (event.target.tagName !== "TR") return;
    const { trie } = this.sums;
    const nodes = this.visible.filter((row) => !row.rest).map((row) => row.node);
    const at = nodes.indexOf(this.cursor);
    const open = this.open.has(this.cursor);
    const leaf = this.visible.find((row) => row.node === this.cursor && !row.rest)?.leaf;
    if (event.key === "ArrowDown") this.cursor = nodes[Math.min(nodes.length - 1, at + 1)];
    else if (event.key === "ArrowUp") this.cursor = nodes[Math.max(0, at - 1)];
    else if (event.key === "ArrowRight" && !leaf) open ? (this.cursor = nodes[at + 1]) : this.openHot(this.sums, this.cursor);
    else if (event.key === "ArrowLeft") open && !leaf ? this.open.delete(this.cursor) : (this.cursor = Math.max(0, trie.parent[this.cursor]));
    else if (event.key === "Enter" || event.key === " ") this.page.pick(trie.method[this.cursor]);
    else if (event.key === "c") this.page.copy(this.page.frameName(this.sums, this.cursor));
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.render();
    this.focus();
  }
}

// Self and total by method: sorted by a column, filtered by the search.
class MethodTable {
  constructor(host, pane, page) {
    Object.assign(this, { host, pane, page, by: null, up: false, shown: 100 }); // by null: nobody chose
  }

  show(column, hit) {
    this.column = column;
    this.hit = hit;
    this.render();
  }

  list() {
    const { profile } = this.page;
    const absolute = this.page.absolute();
    const { now, base, all, baseAll } = profile.byMethod(this.column);
    const rows = [];
    const change = (a, b) => (absolute ? a - b : a / (all || 1) - b / (baseAll || 1));
    for (let method = 0; method < profile.methods.names.length; method++) {
      if (!now.total[method] && !base?.total[method]) continue;
      if (this.hit && !this.hit[method]) continue;
      const row = { method, self: now.self[method], total: now.total[method] };
      if (base) {
        Object.assign(row, { selfBase: base.self[method], totalBase: base.total[method] });
        row.dself = change(row.self, row.selfBase);
        row.dtotal = change(row.total, row.totalBase);
      }
      rows.push(row);
    }
    const by = this.by ?? (base ? "dself" : "self");
    const bit = { dself: 1, dtotal: 2 }[by];
    if (bit) rows.forEach((row) => (row.sure = this.page.isChance(this.column, row.method, bit) ? 0 : 1)); // those come first
    const key = by === "name" ? null : (row) => (bit ? Math.abs(row[by]) : row[by]);
    rows.sort((a, b) => (bit ? b.sure - a.sure : 0) || (key ? key(b) - key(a) || b.total - a.total : profile.rank[a.method] - profile.rank[b.method]));
    if (this.up) rows.reverse();
    return { rows, all, baseAll, by };
  }

  render() {
    const { page, column } = this;
    const { rows, all, baseAll, by } = this.list();
    const base = page.profile.isDiff;
    const sure = !base && page.points(column, 0.5) > 0;
    const changes = page.changes(column);
    const interval = changes?.intervals ? [[null, "95 % interval", "of the change in percent"]] : [];
    const percents = [null, "Change, %", "of the figure before"];
    const in_what = page.absolute() ? "" : ", points";
    const heads = base
      ? [["dself", `Self change${in_what}`], ["selfBase", "Self before"], ["self", "Self after"], percents, ...interval,
        ["dtotal", `Total change${in_what}`], ["totalBase", "Total before"], ["total", "Total after"], percents, ...interval, ["name", "Method"]]
      : [["self", "Self"], ...(sure ? [[null, "±", "points, at 95 %"]] : []), ["self", `Self ${column.title}`], ["total", "Total"], ["total", `Total ${column.title}`], ["name", "Method"]];
    const body = make("tbody");
    for (const row of rows.slice(0, this.shown)) body.append(make("tr", page.isChance(column, row.method) ? { className: "chance", title: "within chance" } : {}, ...(base ? this.diffCells(row, all, baseAll) : this.cells(row, all, sure)), this.nameCell(row.method)));
    const more = rows.length - this.shown;
    const button = make("button", { type: "button", className: "link" }, `${exactly(more)} more`);
    button.addEventListener("click", () => {
      const first = this.shown;
      this.shown += 400;
      this.render();
      this.host.querySelectorAll("tbody button")[first].focus(); // the button may be gone
    });
    const table = make("table", { className: `methods${base ? " both" : ""}`, "aria-label": `Methods by ${column.title}` },
      make("thead", {}, make("tr", {}, ...heads.map(([key, text, title], i) => this.head(key, text, by, heads.findIndex((h) => h[0] === key) === i, title)))), body);
    page.replace(this.host, table, ...(more > 0 ? [make("p", { className: "more" }, button)] : []), ...(rows.length === 0 ? [make("p", { className: "more" }, "No method matches.")] : []));
  }

  head(key, text, by, first, title) {
    const head = make("th", { scope: "col", className: key === "name" ? "" : "number" });
    if (key === by && first) head.setAttribute("aria-sort", this.up === (key === "name") ? "descending" : "ascending");
    if (key === null) {
      head.append(make("abbr", { title }, text));
      return head;
    }
    const mark = key === by && first ? (head.getAttribute("aria-sort") === "ascending" ? " ▴" : " ▾") : "";
    const button = make("button", { type: "button" }, text, make("span", { "aria-hidden": "true" }, mark));
    button.addEventListener("click", () => {
      this.up = key === by ? !this.up : false;
      this.by = key;
      this.render();
      [...this.host.querySelectorAll("th button")].find((b) => b.firstChild.data === text)?.focus();
    });
    head.append(button);
    return head;
  }

  cells(row, all, sure) {
    const { column, page } = this;
    const number = (v) => make("td", { className: "number", title: inFull(v, column) }, amount(v, column.unit));
    const points = sure ? [make("td", { className: "number dim" }, (100 * page.points(column, row.self / all)).toFixed(2))] : [];
    return [shareCell(row.self / all), ...points, number(row.self), shareCell(row.total / all), number(row.total)];
  }

  diffCells(row, all, baseAll) {
    const { column, page } = this;
    const changes = page.changes(column);
    const known = changes?.rows.get(row.method);
    const number = (v, text) => make("td", { className: "number", title: inFull(v, column) }, text);
    const figure = (change, before, after, cells, bit) => {
      const [a, b, ratio, interval] = cells ?? [page.figure(before, baseAll, column), page.figure(after, all, column), relative(page.absolute() ? before : before / (baseAll || 1), page.absolute() ? after : after / (all || 1)), ""];
      return [page.changeCell(change, column, page.isChance(column, row.method, bit)), number(before, a), number(after, b), make("td", { className: "number" }, ratio.replace("-", "−")),
        ...(changes?.intervals ? [make("td", { className: "number dim" }, interval.replaceAll("-", "−"))] : [])];
    };
    return [...figure(row.dself, row.selfBase, row.self, known?.[2], 1), ...figure(row.dtotal, row.totalBase, row.total, known?.[3], 2)];
  }

  nameCell(method) {
    const button = nameButton(this.page.profile.methods.names[method]);
    button.addEventListener("click", () => this.page.pick(method));
    return make("td", { className: "frame" }, this.page.swatch(method), button, ...this.page.kindNote(method));
  }
}

const MANY_THREADS = 1000; // as many as there may be rows and options without a wait

function threadTable(host, column, page) {
  const { profile } = page;
  const threads = profile.threads(column);
  const all = threads.reduce((sum, t) => sum + t[1], 0);
  const baseAll = threads.reduce((sum, t) => sum + t[2], 0);
  const body = make("tbody");
  for (const [thread, value, base] of threads.slice(0, MANY_THREADS)) {
    const name = thread < 0 ? "not told" : profile.methods.names[thread];
    const button = nameButton(name, { disabled: thread < 0 });
    button.addEventListener("click", () => page.chooseThread(name));
    const change = page.absolute() ? value - base : value / (all || 1) - base / (baseAll || 1);
    body.append(make("tr", {}, ...(profile.isDiff ? [page.changeCell(change, column)] : []), shareCell(value / (all || 1)),
      make("td", { className: "number", title: inFull(value, column) }, amount(value, column.unit)), make("td", { className: "frame" }, button)));
  }
  const heads = [...(profile.isDiff ? [page.absolute() ? "Change" : "Change, points"] : []), "Share", column.title, "Thread"];
  const more = threads.length - MANY_THREADS;
  const rest = more > 0 ? [make("p", { className: "more" }, `Threads not shown, with smaller values: ${exactly(more)}`)] : [];
  page.replace(host, make("table", { className: "threads", "aria-label": `Threads by ${column.title}` },
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", className: text === "Thread" ? "" : "number" }, text)))), body), ...rest);
}

// The panel about a method: values, lines, callers, callees.
function methodPanel(host, method, column, page) {
  const { profile } = page;
  const { methods } = profile;
  const { now, base, all, baseAll } = profile.byMethod(column);
  const shares = (what) => [what[method], all ? what[method] / all : 0];
  const fact = (title, [value, share]) => {
    const points = page.points(column, share);
    return [make("dt", {}, title), make("dd", { title: inFull(value, column) }, `${percent(share)}${points > 0 ? ` ± ${(100 * points).toFixed(1)}` : ""}, ${amount(value, column.unit)}`)];
  };
  const facts = make("dl", {}, ...fact("Self", shares(now.self)), ...fact("Total", shares(now.total)));
  if (base) {
    for (const [title, what] of [["Self change", "self"], ["Total change", "total"]]) {
      const change = page.absolute() ? now[what][method] - base[what][method] : now[what][method] / (all || 1) - base[what][method] / (baseAll || 1);
      const cells = page.changes(column)?.rows.get(method)?.[what === "self" ? 2 : 3];
      const sure = page.changes(column)?.known ? (page.isChance(column, method, what === "self" ? 1 : 2) ? ", within chance" : ", beyond chance") : "";
      facts.append(make("dt", {}, title), make("dd", {}, page.changeText(change, column), ...(cells ? [`: ${cells[0]} → ${cells[1]}, ${cells[2]}${cells[3] ? ` (95 % interval ${cells[3]})` : ""}`.replaceAll("-", "−")] : []), sure));
    }
  }
  const action = (text, title, run) => {
    const button = make("button", { type: "button", title }, text);
    button.addEventListener("click", run);
    return button;
  };
  const { callers, callees } = profile.neighbours(column, method);
  const lines = profile.lines(column, method).filter(([line]) => line > 0);
  page.replace(host,
    make("h2", { id: "method-name" }, page.swatch(method), named(methods.names[method])),
    make("p", { className: "dim" }, [capital(KIND_WORDS[methods.kinds[method]]), methods.sources[method]].filter(Boolean).join(", ")),
    facts,
    make("div", { className: "buttons" },
      action("Graph of callers", "All stacks that lead to this method", () => page.focusOn(method, "callers")),
      action("Graph of callees", "All stacks below this method", () => page.focusOn(method, "callees")),
      action("Hide its stacks", "Leave out every stack that has this method", () => page.hide(method)),
      action("Copy name", "Key: c", () => page.copy(methods.names[method]))),
    ...neighbourTable("Callers", callers, column, [all, baseAll], page, method), ...neighbourTable("Callees", callees, column, [all, baseAll], page), ...lineTable(lines, column, all));
}

// of: whose total a row is a part of; without it that of its own method.
function neighbourTable(title, list, column, [all, baseAll], page, of) {
  const { isDiff } = page.profile;
  if (list.length === 0) return [make("h3", {}, title), make("p", { className: "dim" }, "none")];
  const body = make("tbody");
  for (const [method, value, base] of list.slice(0, 40)) {
    const name = method < 0 ? make("span", { className: "dim" }, "outermost") : nameButton(page.profile.methods.names[method]);
    if (method >= 0) name.addEventListener("click", () => page.pick(method));
    const change = page.absolute() ? value - base : value / (all || 1) - base / (baseAll || 1);
    body.append(make("tr", {}, ...(isDiff ? [page.changeCell(change, column, page.isChance(column, of ?? method))] : []), shareCell(value / (all || 1), { title: inFull(value, column) }), make("td", { className: "frame" }, name)));
  }
  const heads = [...(isDiff ? ["Change"] : []), "Share", "Method"];
  return [make("h3", {}, title, ...(list.length > 40 ? [` (40 of ${exactly(list.length)})`] : [])), make("table", { "aria-label": title },
    make("thead", { className: "unseen" }, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))), body)];
}

function lineTable(lines, column, all) {
  if (lines.length === 0) return [];
  const body = make("tbody");
  for (const [line, self, total] of lines.slice(0, 20)) {
    body.append(make("tr", {}, make("td", { className: "number" }, String(line)), shareCell(self / (all || 1), { title: inFull(self, column) }), shareCell(total / (all || 1), { title: inFull(total, column) })));
  }
  return [make("h3", {}, "Lines"), make("table", { "aria-label": "Lines" },
    make("thead", {}, make("tr", {}, ...["Line", "Self", "Total"].map((text) => make("th", { scope: "col", className: "number" }, text)))), body)];
}

