// SPDX-License-Identifier: BSD-2-Clause
// strip.js: what happened when, above the views: a strip of the run, a heat map of what was within each second, and a lane for each thread. A
// part that is chosen on any of them is what everything below is of.

const STRIP_HEIGHT = 50;
const LANE = 18;
const LANES = 8; // at first
const BAND_WIDTH = 3; // pixels of a bin, at least
const BANDS = 7; // groups with a colour of their own
const HEAT_CELL = 20; // ms
const HEAT_ROW = 2; // pixels
// Groups that are none of the run: no thread and no package is one of them, whatever its name.
const FOUND = Symbol("stacks that match");
const OTHERS = Symbol("others");

class Strip {
  constructor(page) {
    this.page = page;
    this.time = page.profile.time;
    this.lanes = LANES;
    this.cursor = this.time.begin;
    this.drag = null;
    this.anchor = null; // where a selection with the keys began
    $("times-of").replaceWith($("times-of").content);
    this.canvases = ["strip", "heat", "lane-canvas"].map($);
    this.papers = new Map(this.canvases.map((canvas) => [canvas, canvas.getContext("2d")]));
    this.listen();
  }

  listen() {
    for (const canvas of this.canvases) {
      canvas.addEventListener("pointerdown", (event) => this.press(canvas, event));
      canvas.addEventListener("pointermove", (event) => this.move(canvas, event));
      canvas.addEventListener("pointerup", (event) => this.release(canvas, event));
      canvas.addEventListener("pointercancel", () => this.drop());
      canvas.addEventListener("pointerleave", (event) => this.point(canvas, -1, event));
      canvas.addEventListener("keydown", (event) => this.key(event));
      for (const kind of ["focus", "blur"]) canvas.addEventListener(kind, () => this.paint());
    }
    new ResizeObserver(() => this.resize()).observe($("times"));
    const { page } = this;
    $("sub").addEventListener("click", () => page.set({ sub: !page.state.sub }));
    $("lanes").addEventListener("click", () => page.set({ lanes: !page.state.lanes }));
    for (const button of $("time-by").children) button.addEventListener("click", () => page.set({ by: button.dataset.by }));
    for (const id of ["from", "to"]) $(id).addEventListener("change", () => this.typed());
    $("near").addEventListener("click", () => this.zoom(this.canZoomIn() ? [page.state.from, page.state.to] : null));
    $("lanes-more").addEventListener("click", () => {
      this.lanes += 4 * LANES;
      this.show();
    });
  }

  // ---- what is chosen ----

  selected() {
    return this.page.state.to > 0;
  }

  // A part [from, to), which begins and ends with a step of the times.
  select(a, b) {
    const { step, begin, end } = this.time; // begin is whole steps
    const from = Math.max(begin, Math.floor(Math.min(a, b) / step) * step);
    const to = Math.min(Math.ceil(end / step) * step, Math.ceil(Math.max(a, b) / step) * step);
    this.anchor = null;
    this.page.set(to > from ? { from, to, zoom: 0 } : { from: 0, to: 0, zoom: 0, ...(this.page.state.base === "rest" ? { base: "" } : {}) });
    $("say").textContent = to > from ? `Selected: ${offset(from)} to ${offset(to)}` : "All the time";
  }

  typed() {
    const [from, to] = [["from", this.time.begin], ["to", this.time.end]].map(([id, all]) => ($(id).value ? readOffset($(id).value) : all));
    for (const [id, v] of [["from", from], ["to", to]]) $(id).setAttribute("aria-invalid", String(Number.isNaN(v) || from >= to));
    if (from < to) this.select(from, to);
  }

  // The part that is seen: [from, to].
  axis() {
    const [from, to] = this.page.state.near.split("-").map(Number);
    const { begin, end, step } = this.time;
    return to > from && from >= begin && to <= end + step ? [from, to] : [begin, end];
  }

  canZoomIn() {
    const { from, to, near } = this.page.state;
    return this.selected() && near !== `${from}-${to}`;
  }

  zoom(part) {
    const { begin, end } = this.time;
    const [from, to] = part ?? [begin, end];
    this.page.set({ near: from <= begin && to >= end ? "" : `${Math.floor(from)}-${Math.ceil(to)}` });
  }

  // ---- what is shown ----

  // The measure whose sums are drawn: CPU time for samples; that of another view where the one that is looked at has no times.
  column() {
    const { profile, state } = this.page;
    const wanted = profile.column(state.views[0]);
    const timed = profile.columns.filter((column) => profile.isTimed(column));
    const ofView = timed.filter((column) => column.view === wanted.view);
    return (wanted.view.key === "cpu" && ofView.find((column) => column.unit === "ns")) || ofView.find((column) => column === wanted) || ofView[0] || timed.find((column) => column.unit === "ns") || timed[0];
  }

  samples(column) {
    return column.view.whole;
  }

  // Of places: -1 for those that are left out.
  groups(samples, of) {
    const { profile } = this.page;
    return Int32Array.from(samples.node, (_, i) => (profile.counts(samples, i) ? of(i) : -1));
  }

  // Names of groups by place; found: whether a search has hits.
  nameOf(samples) {
    const { page } = this;
    const { methods, main } = page.profile;
    if (page.hit) {
      const flags = page.profile.under((method) => page.hit[method]);
      return (i) => (flags[samples.main[i]] ? FOUND : OTHERS);
    }
    if (page.state.by === "code") return (i) => this.codeGroup(main.method[samples.main[i]]);
    return (i) => (samples.thread[i] < 0 ? "not told" : methods.names[samples.thread[i]].replace(/\d+/g, "N"));
  }

  codeGroup(method) {
    return method < 0 ? "no stack" : this.page.colours.groups[method];
  }

  colourOf(name, i) {
    const { colours, state, hit } = this.page;
    if (hit) return name === FOUND ? colours.hit : colours.root;
    if (name === OTHERS) return colours.root;
    return state.by === "code" && name !== "no stack" ? colours.group(name, colours.dark ? 14 : -8) : colours.band(i);
  }

  nameText(name) {
    return typeof name === "symbol" ? name.description : this.page.state.by === "code" ? name.replace(/^state /, "") : name;
  }

  // The greatest groups first, and the rest as one.
  bands(column) {
    const samples = this.samples(column);
    const nameOf = this.nameOf(samples);
    const sums = new Map();
    const name = Array.from(samples.node, (_, i) => nameOf(i));
    inMoments(samples, samples.moments.get(column.name)).forEach((v, i) => {
      if (v > 0 && this.page.profile.counts(samples, i)) sums.set(name[i], (sums.get(name[i]) ?? 0) + v);
    });
    const order = [...sums].sort((a, b) => (b[0] === FOUND) - (a[0] === FOUND) || b[1] - a[1]).map(([group]) => group);
    const own = order.slice(0, order.length > BANDS + 1 ? BANDS : order.length);
    const index = new Map(own.map((group, i) => [group, i]));
    const names = own.length < order.length ? [...own, OTHERS] : own;
    return { names, group: this.groups(samples, (i) => index.get(name[i]) ?? own.length) };
  }

  // How wide a bin is, in ms: at least some pixels and a step.
  binOf(width) {
    const [from, to] = this.axis();
    return round125(Math.max(this.time.step, ((to - from) * BAND_WIDTH) / width));
  }

  lay(width) {
    const [from, to] = this.axis();
    const bin = this.binOf(width);
    const first = Math.floor(from / bin) * bin;
    const n = Math.max(1, Math.ceil((to - first) / bin));
    return { bin, first, n, range: [first, first + n * bin] };
  }

  amountOf(column, v, ms) {
    if (column.unit !== "ns") return `${amount((v * 1000) / ms, column.unit)} ${UNITS[column.unit] ? "" : `${column.title} `}/ s`.replace("  ", " ");
    const n = v / (ms * 1e6);
    const word = column.view.key === "cpu" ? "CPU" : "thread";
    const text = n.toLocaleString("en", { maximumFractionDigits: n >= 10 ? 0 : 2 });
    return `${text} ${word}${text === "1" ? "" : "s"}`;
  }

  show() {
    const { page } = this;
    const { state, profile } = page;
    const column = this.column();
    const width = $("strip").clientWidth || 600;
    const key = JSON.stringify([column.name, page.filter, state.by, state.near, state.sub, state.lanes, state.query, state.regex, width, this.lanes]);
    if (key !== this.shown) {
      this.shown = key;
      this.drawn = { column, width, ...this.lay(width), ...this.bands(column) };
      this.drawn.sums = overTime(this.samples(column), column.name, this.time, this.drawn.range, this.drawn.n, this.drawn.group, this.drawn.names.length);
      this.drawn.top = this.highest(this.drawn);
      this.heat = state.sub && this.cell() ? this.countHeat(column, width) : null;
      this.rows = state.lanes ? this.countLanes() : null;
    }
    this.tell(column, profile, state);
    this.paint();
  }

  highest({ sums, n, bin, column }) {
    let top = 0;
    for (let k = 0; k < n; k++) top = Math.max(top, sums.reduce((sum, band) => sum + band[k], 0));
    const unit = column.unit === "ns" ? bin * 1e6 : bin / 1000;
    return column.unit === "ns" ? Math.max(0.1, round125(top / unit, 0.01)) * unit : round125(Math.max(1, top / unit)) * unit;
  }

  swatch(colour, text) {
    const mark = make("span", { className: "swatch", "aria-hidden": "true" });
    mark.style.setProperty("--colour", colour);
    return make("span", {}, mark, text);
  }

  tell(column, profile, state) {
    const { drawn, time } = this;
    $("time-title").textContent = `${column.view.key === "other" ? column.title : column.view.title} by time`;
    $("strip-top").textContent = this.amountOf(column, drawn.top, drawn.bin);
    const marks = drawn.names.map((name, i) => this.swatch(this.colourOf(name, i), this.nameText(name)));
    const all = time.pauses.reduce((sum, pause) => sum + pause.to - pause.from, 0);
    if (time.pauses.length > 0) marks.push(this.swatch(this.mark("--less"), `${exactly(time.pauses.length)} pause${time.pauses.length === 1 ? "" : "s"} of the collector, ${amount(all * 1e6, "ns")}`));
    $("time-legend").replaceChildren(...marks);
    const coarse = Math.max(time.step, ...[...profile.views.values()].flatMap((view) => view.whole.grains.map((grain) => grain.ms)));
    $("time-note").textContent = time.step > 10 || coarse > time.step ? `Times here are in steps of ${offset(time.step)}${coarse > time.step ? `, of older parts in steps of ${offset(coarse)}` : ""}.` : "";
    $("time-note").hidden = $("time-note").textContent === "";
    $("from").value = this.selected() ? offset(state.from) : "";
    $("to").value = this.selected() ? offset(state.to) : "";
    $("from").placeholder = offset(this.time.begin);
    $("to").placeholder = offset(this.time.end);
    for (const id of ["from", "to"]) $(id).removeAttribute("aria-invalid");
    const press = (button, on) => button.setAttribute("aria-pressed", String(on));
    for (const button of $("time-by").children) press(button, button.dataset.by === (state.by === "code" ? "code" : "threads"));
    $("time-by").children[1].textContent = column.view.key === "wall" ? "States" : "Code";
    $("sub").disabled = this.cell() === 0;
    press($("sub"), state.sub && this.cell() > 0);
    press($("lanes"), state.lanes);
    $("near").hidden = !this.selected() && state.near === "";
    $("near").textContent = this.canZoomIn() ? "Zoom in" : "Zoom out";
    $("heat-row").hidden = !this.heat;
    $("lane-row").hidden = !this.rows;
    const said = `${$("time-title").textContent}, ${offset(this.axis()[0])} to ${offset(this.axis()[1])}, up to ${$("strip-top").textContent}. ${this.selected() ? `Selected: ${offset(state.from)} to ${offset(state.to)}. ` : ""}Arrow keys move, with Shift they select, plus and minus zoom, Escape selects all.`;
    this.canvases.forEach((canvas, i) => canvas.setAttribute("aria-label", `${["", "Within seconds: ", "Threads: "][i]}${said}`));
    if (this.rows) this.tellLanes();
  }

  // ---- within seconds ----

  // The height of a cell in ms; 0: times are too coarse.
  cell() {
    const cell = Math.max(HEAT_CELL, this.time.step);
    return cell <= 100 && SECOND % cell === 0 ? cell : 0;
  }

  // Columns of whole seconds, several where they would be narrower than two pixels.
  countHeat(column, width) {
    const [from, to] = this.axis();
    const cell = this.cell();
    const first = Math.floor(from / SECOND);
    const seconds = Math.max(1, Math.ceil(to / SECOND) - first);
    const each = Math.max(1, round125(Math.ceil((2 * seconds) / width)));
    const rows = SECOND / cell;
    const samples = this.samples(column);
    const grid = { first, each, rows, cell, columns: Math.ceil(seconds / each) };
    const sums = inSeconds(samples, column.name, this.time, grid, this.groups(samples, () => 0));
    const some = sums.filter((v) => v > 0).sort();
    return { ...grid, sums, top: some[Math.floor(some.length * 0.98)] ?? 1 };
  }

  // ---- lanes ----

  countLanes() {
    const { profile } = this.page;
    const wall = profile.columns.find((column) => column.view.key === "wall" && profile.isTimed(column));
    const column = wall ?? profile.columns.find((c) => c.view.key === "cpu" && c.unit === "ns" && profile.isTimed(c)) ?? this.column();
    const samples = this.samples(column);
    const { main, methods } = profile;
    const states = Object.keys(STATES);
    const stateAt = (i) => (wall ? Math.max(0, states.indexOf(stateOf(methods.names[main.method[samples.main[i]]] ?? "running"))) : 0);
    const busy = new Map();
    inMoments(samples, samples.moments.get(column.name)).forEach((v, i) => {
      const of = samples.thread[i];
      if (profile.counts(samples, i)) busy.set(of, (busy.get(of) ?? 0) + (["running", "runnable", "blocked"].includes(states[stateAt(i)]) ? v : v * 1e-6));
    });
    const order = [...busy].filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]).map(([thread]) => thread);
    const threads = order.slice(0, this.lanes);
    const at = new Map(threads.map((thread, i) => [thread, i]));
    const { bin, n, range } = this.drawn;
    const group = this.groups(samples, (i) => (at.has(samples.thread[i]) ? at.get(samples.thread[i]) * states.length + stateAt(i) : -1));
    const sums = overTime(samples, column.name, this.time, range, n, group, threads.length * states.length);
    const used = states.filter((_, s) => threads.some((__, lane) => sums[lane * states.length + s].some((v) => v > 0)));
    return { threads, states, used, sums, more: order.length - threads.length, whole: column.unit === "ns" ? bin * 1e6 : Math.max(1, ...sums.map((lane) => Math.max(...lane))) };
  }

  tellLanes() {
    const { threads, used, more } = this.rows;
    const { page } = this;
    const key = JSON.stringify([threads, used, page.state.thread, page.dark]);
    $("lanes-more").hidden = more <= 0;
    $("lanes-more").textContent = `${exactly(more)} more thread${more === 1 ? "" : "s"}`;
    if (this.laneKey === key) return;
    this.laneKey = key;
    $("lane-legend").replaceChildren(...used.map((state) => this.swatch(page.colours.group(`state ${state}`), state)));
    $("lane-names").replaceChildren(...threads.map((thread) => {
      const name = thread < 0 ? "not told" : page.profile.methods.names[thread];
      const button = make("button", { type: "button", className: "link name", disabled: thread < 0, title: name }, name);
      button.addEventListener("click", () => page.chooseThread(page.state.thread === name ? "" : name));
      return button;
    }));
  }

  // ---- pictures ----

  mark(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name);
  }

  resize() {
    if (this.drawn && this.drawn.width !== $("strip").clientWidth) this.show();
  }

  ready(canvas, height) {
    const ratio = window.devicePixelRatio || 1;
    const width = this.drawn.width;
    const paper = this.papers.get(canvas);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    paper.setTransform(ratio, 0, 0, ratio, 0, 0);
    paper.clearRect(0, 0, width, height);
    return paper;
  }

  x(ms) {
    const [from, to] = this.axis();
    return ((ms - from) / (to - from)) * this.drawn.width;
  }

  paint() {
    if (!this.drawn) return;
    this.paintStrip();
    this.paintAxis();
    if (this.heat) this.paintHeat();
    if (this.rows) this.paintLanes();
  }

  paintStrip() {
    const { n, bin, first, sums, names, top } = this.drawn;
    const paper = this.ready($("strip"), STRIP_HEIGHT);
    const tall = STRIP_HEIGHT - 1;
    const base = new Float64Array(n);
    paper.fillStyle = this.mark("--quiet");
    paper.fillRect(0, 0, this.drawn.width, STRIP_HEIGHT);
    names.forEach((name, i) => {
      paper.fillStyle = this.colourOf(name, i);
      for (let k = 0; k < n; k++) {
        if (sums[i][k] === 0) continue;
        const left = this.x(first + k * bin);
        const right = this.x(first + (k + 1) * bin);
        const y = STRIP_HEIGHT - (tall * (base[k] + sums[i][k])) / top;
        paper.fillRect(left, y, Math.max(1, right - left - (right - left > 5 ? 1 : 0)), (tall * sums[i][k]) / top);
        base[k] += sums[i][k];
      }
    });
    this.paintPauses(paper, STRIP_HEIGHT, true);
    this.paintChoice($("strip"), paper, STRIP_HEIGHT);
  }

  // Many are told by their ends alone: lines would hide what is below them.
  paintPauses(paper, height, arrows) {
    const [seenFrom, seenTo] = this.axis();
    const dense = this.time.pauses.filter(({ from, to }) => to > seenFrom && from < seenTo).length > this.drawn.width / 16;
    if (dense && !arrows) return;
    paper.fillStyle = this.mark("--less");
    for (const { from, to } of this.time.pauses) {
      const left = this.x(from);
      const wide = Math.max(1, this.x(to) - left);
      if (left + wide < -6 || left > this.drawn.width + 6) continue;
      paper.globalAlpha = 0.45;
      paper.fillRect(left, 0, wide, dense ? 6 : height);
      paper.globalAlpha = 1;
      if (!arrows || dense) continue;
      paper.beginPath();
      paper.moveTo(left + wide / 2 - 4, 0);
      paper.lineTo(left + wide / 2 + 4, 0);
      paper.lineTo(left + wide / 2, 7);
      paper.fill();
    }
  }

  // What is chosen, or is about to be: [from, to]; null: nothing.
  chosen() {
    const { from, to } = this.page.state;
    return this.drag?.canvas ? this.dragged() : this.selected() ? [from, to] : null;
  }

  // What is chosen is clear, the rest is pale; the other side of a comparison has a dotted border.
  paintChoice(canvas, paper, height) {
    const { width } = this.drawn;
    const part = this.chosen();
    const base = this.page.base();
    const other = base !== null && !base.rest ? [base.from, base.to] : null;
    const border = ([from, to], colour, dash) => {
      paper.setLineDash(dash);
      paper.strokeStyle = this.mark(colour);
      paper.lineWidth = 2;
      paper.strokeRect(this.x(from), 1, Math.max(1, this.x(to) - this.x(from)), height - 2);
      paper.setLineDash([]);
    };
    if (part) {
      paper.fillStyle = this.page.colours.dim;
      const sides = [[0, this.x(part[0])], [this.x(part[1]), width]];
      if (base === null) for (const [a, b] of sides) paper.fillRect(a, 0, Math.max(0, b - a), height);
      border(part, "--accent", []);
    }
    if (other) border(other, "--less", [5, 3]);
    if (document.activeElement === canvas) {
      paper.fillStyle = this.mark("--text");
      paper.fillRect(Math.round(this.x(this.cursor)), 0, 1, height);
    }
  }

  paintAxis() {
    const canvas = $("axis");
    if (!this.papers.has(canvas)) this.papers.set(canvas, canvas.getContext("2d"));
    const paper = this.ready(canvas, 16);
    const [from, to] = this.axis();
    const room = Math.max(1, Math.floor(this.drawn.width / 64));
    const ms = (to - from) / room;
    const step = ms > 600000 ? round125(ms / 3600000) * 3600000 : ms > 20000 ? [30, 60, 120, 300, 600].find((s) => s * 1000 >= ms) * 1000 : round125(ms);
    paper.font = "11px system-ui, sans-serif";
    paper.textBaseline = "top";
    paper.fillStyle = this.mark("--dim");
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const text = offset(at);
      const wide = paper.measureText(text).width;
      paper.fillRect(Math.min(this.drawn.width - 1, Math.round(this.x(at))), 0, 1, 3);
      paper.fillText(text, Math.max(0, Math.min(this.drawn.width - wide, this.x(at) - wide / 2)), 4);
    }
  }

  paintHeat() {
    const { rows, columns, sums, top, first, each, cell } = this.heat;
    const height = rows * HEAT_ROW * (cell / HEAT_CELL);
    const tall = height / rows;
    const paper = this.ready($("heat"), height);
    paper.fillStyle = this.mark("--quiet");
    paper.fillRect(0, 0, this.drawn.width, height);
    const edge = (column) => Math.round(this.x((first + column * each) * SECOND));
    for (let c = 0; c < columns; c++) {
      const left = edge(c);
      const wide = edge(c + 1) - left - (edge(c + 1) - left > 5 ? 1 : 0);
      for (let r = 0; r < rows; r++) {
        const v = sums[c * rows + r];
        if (v === 0) continue;
        paper.fillStyle = this.page.colours.heat(Math.min(1, v / top));
        paper.fillRect(left, r * tall, Math.max(1, wide), tall);
      }
    }
    this.paintHeatMarks(paper, edge, tall);
  }

  // Pauses, and what is chosen: cells of which nothing is chosen are pale.
  paintHeatMarks(paper, edge, tall) {
    const { rows, columns } = this.heat;
    const fill = (at, width = Infinity) => {
      const [left, right] = [edge(Math.floor(at / rows)), edge(Math.floor(at / rows) + 1)];
      paper.fillRect(left, (at % rows) * tall, Math.min(right - left, width), tall);
    };
    paper.fillStyle = this.mark("--less");
    let after = -Infinity; // pauses are in the order of their ends: what one has covered no other needs to
    for (const { from, to } of this.time.pauses) {
      eachCell(this.heat, Math.max(from, after), Math.max(to, from + 1), (at) => fill(at, Math.max(2, Math.min(6, (edge(Math.floor(at / rows) + 1) - edge(Math.floor(at / rows))) / 4))));
      after = Math.max(after, to);
    }
    const part = this.chosen();
    if (part) {
      const inside = new Uint8Array(columns * rows);
      eachCell(this.heat, part[0], part[1], (at) => (inside[at] = 1));
      paper.fillStyle = this.page.colours.dim;
      inside.forEach((is, at) => is || fill(at));
    }
    if (document.activeElement === $("heat")) {
      paper.fillStyle = this.mark("--text");
      eachCell(this.heat, this.cursor, this.cursor + 1, (at) => fill(at));
    }
  }

  paintLanes() {
    const { threads, states, sums, whole } = this.rows;
    const { n, bin, first } = this.drawn;
    const paper = this.ready($("lane-canvas"), threads.length * LANE);
    threads.forEach((_, lane) => {
      paper.fillStyle = this.mark("--quiet");
      paper.fillRect(0, lane * LANE + 1, this.drawn.width, LANE - 2);
      const base = new Float64Array(n);
      states.forEach((state, s) => {
        const band = sums[lane * states.length + s];
        paper.fillStyle = this.page.colours.group(`state ${state}`);
        for (let k = 0; k < n; k++) {
          if (band[k] === 0) continue;
          const tall = Math.min(1 - base[k], band[k] / whole) * (LANE - 2);
          const left = Math.round(this.x(first + k * bin));
          paper.fillRect(left, lane * LANE + LANE - 1 - base[k] * (LANE - 2) - tall, Math.max(1, Math.round(this.x(first + (k + 1) * bin)) - left), tall);
          base[k] += tall / (LANE - 2);
        }
      });
    });
    this.paintPauses(paper, threads.length * LANE, false);
    this.paintChoice($("lane-canvas"), paper, threads.length * LANE);
  }

  // ---- the pointer ----

  // The time at a place of a canvas: the cell of the heat map, else what is left and right of the pixel.
  at(canvas, event) {
    const [from, to] = this.axis();
    const x = Math.max(0, Math.min(this.drawn.width, event.offsetX));
    const ms = from + (x / this.drawn.width) * (to - from);
    if (canvas !== $("heat") || !this.heat) return ms;
    const { rows, cell, each } = this.heat;
    const row = Math.max(0, Math.min(rows - 1, Math.floor((event.offsetY / canvas.clientHeight) * rows)));
    return each > 1 ? ms : Math.min(this.time.end, Math.floor(ms / SECOND) * SECOND + row * cell);
  }

  press(canvas, event) {
    if (event.button !== 0) return;
    canvas.setPointerCapture?.(event.pointerId);
    const at = this.at(canvas, event);
    const { state } = this.page;
    const from = event.shiftKey && this.selected() ? (at < (state.from + state.to) / 2 ? state.to : state.from) : at;
    const cell = canvas === $("heat") && this.heat?.each === 1 ? this.heat.cell : 0;
    this.drag = { canvas: null, from, to: at, cell, x: event.offsetX, y: event.offsetY, far: event.shiftKey };
  }

  move(canvas, event) {
    const at = this.at(canvas, event);
    if (this.drag) {
      const { x, y } = this.drag;
      this.drag.to = at;
      if (Math.abs(event.offsetX - x) > 3 || (canvas === $("heat") && Math.abs(event.offsetY - y) > 3)) this.drag.canvas = canvas;
      this.paint();
    }
    this.point(canvas, at, event);
  }

  // From one end to the other, with the cells of the heat map that both are in; with Shift the first end is that of what was chosen.
  dragged({ from, to, cell, far } = this.drag) {
    return [Math.min(from, to), Math.max(from + (far ? 0 : cell), to + cell)];
  }

  release(canvas, event) {
    const { drag } = this;
    if (!drag) return;
    this.drag = null;
    this.cursor = this.at(canvas, event);
    if (drag.canvas || drag.far) this.select(...this.dragged(drag));
    else if (this.selected()) this.select(0, 0); // a click
    this.paint();
  }

  drop() {
    this.drag = null;
    this.paint();
  }

  // What a time says of itself: lines of text.
  lines(at) {
    const { bin, first, n, sums, names, column } = this.drawn;
    const k = Math.max(0, Math.min(n - 1, Math.floor((at - first) / bin)));
    const all = sums.reduce((sum, band) => sum + band[k], 0);
    const parts = names.map((name, i) => [name, sums[i][k]]).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]).slice(0, 4);
    const pauses = this.time.pauses.filter(({ from, to }) => from < first + (k + 1) * bin && to > first + k * bin);
    const lines = [`${this.amountOf(column, all, bin)}${names.length > 1 && all > 0 ? `: ${parts.map(([name, v]) => `${this.nameText(name)} ${percent(v / all)}`).join(", ")}` : ""}`];
    for (const { from, to, name } of pauses.slice(0, 3)) lines.push(`Pause of the collector${name ? `, ${name}` : ""}: ${amount((to - from) * 1e6, "ns")} from ${offset(Math.round(from))} on`);
    return [`${offset(first + k * bin)} to ${offset(first + (k + 1) * bin)}, from ${this.clock(first + k * bin)} on`, ...lines];
  }

  clock(ms) {
    const at = new Date(this.time.zero + ms);
    return `${at.toLocaleTimeString("en-GB")}${at.getMilliseconds() ? `.${String(at.getMilliseconds()).padStart(3, "0")}` : ""}`;
  }

  point(canvas, at, event) {
    if (at < 0 || this.drag?.canvas) {
      this.page.tip(null);
      return;
    }
    const [when, ...lines] = this.lines(at);
    const head = canvas === $("heat") && this.heat?.each === 1 ? `${offset(at)}, ${this.clock(at)}` : when;
    this.page.tip(event, head, canvas === $("heat") ? [`Around it: ${lines[0]}`, ...lines.slice(1)] : lines);
  }

  // ---- keys ----

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { bin } = this.drawn;
    const steps = { ArrowLeft: -bin, ArrowRight: bin, PageUp: -10 * bin, PageDown: 10 * bin, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.go(steps[event.key], event.shiftKey);
    else if (event.key === "+" || event.key === "Enter") this.zoom(this.selected() ? [this.page.state.from, this.page.state.to] : this.around(0.5));
    else if (event.key === "-") this.zoom(this.around(2));
    else if (event.key === "Escape" && this.selected()) this.select(0, 0);
    else if (event.key === "Escape" && this.page.state.near) this.zoom(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  around(part) {
    const [from, to] = this.axis();
    const half = Math.max(5 * this.time.step, ((to - from) * part) / 2);
    return [Math.max(this.time.begin, this.cursor - half), Math.min(this.time.end, this.cursor + half)];
  }

  go(step, far) {
    const { state } = this.page;
    const before = this.cursor;
    const bin = this.drawn.bin;
    const [from, to] = this.axis();
    this.cursor = Math.max(from, Math.min(to, Math.round((before + step) / bin) * bin));
    if (far) {
      const anchor = this.selected() ? this.anchor ?? (Math.abs(state.from - before) < 1 ? state.to : Math.abs(state.to - before) < 1 ? state.from : before) : before;
      this.select(anchor, this.cursor);
      this.anchor = anchor; // what is selected ends with steps, which the cursor may be between
    } else {
      this.anchor = null;
      $("say").textContent = this.lines(this.cursor).join(". ");
      this.paint();
    }
  }
}

