// SPDX-License-Identifier: BSD-2-Clause
// stacks.js: what the page shows, without the page: methods, call trees of every shape, and sums over them.

const METHOD = 0;
const CLASS = 1;
const THREAD = 2;
const STATE = 3;

// A call tree. It grows by child(); finish() numbers its nodes in preorder, children in the order of their names, and a node's descendants are
// then the numbers up to end[node].
class Trie {
  constructor(room = 1024) {
    this.size = 1;
    this.parent = new Int32Array(room);
    this.method = new Int32Array(room);
    this.parent[0] = this.method[0] = -1;
    this.table = new Int32Array(4 * room); // 0 is free: the root is nobody's child; a power of two
  }

  // The first place is near that of the parent, because callers and callees come one after the other; further ones are anywhere.
  slot(parent, method) {
    const mask = this.table.length - 1;
    let step = Math.imul(parent, 0x9e3779b1) ^ Math.imul(method, 0x85ebca6b);
    step = (step ^ (step >>> 15)) | 1;
    for (let at = (4 * parent + (step & 126)) & mask; ; at = (at + step) & mask) {
      const node = this.table[at];
      if (node === 0 || (this.parent[node] === parent && this.method[node] === method)) return at;
    }
  }

  child(parent, method) {
    const at = this.slot(parent, method);
    if (this.table[at] !== 0) return this.table[at];
    if (this.size === this.parent.length) {
      this.grow();
      return this.child(parent, method);
    }
    this.parent[this.size] = parent;
    this.method[this.size] = method;
    this.table[at] = this.size;
    return this.size++;
  }

  grow() {
    const wider = (old) => {
      const next = new Int32Array(2 * old.length);
      next.set(old);
      return next;
    };
    this.parent = wider(this.parent);
    this.method = wider(this.method);
    this.table = new Int32Array(2 * this.table.length);
    for (let node = 1; node < this.size; node++) this.table[this.slot(this.parent[node], this.method[node])] = node;
  }

  // The new number of each node. rank: of methods.
  finish(rank) {
    const { size, parent, method } = this;
    const first = new Int32Array(size);
    const next = new Int32Array(size);
    for (let node = size - 1; node > 0; node--) {
      next[node] = first[parent[node]];
      first[parent[node]] = node;
    }
    const list = [];
    for (let node = 0; node < size; node++) {
      if (next[first[node]] === 0) continue;
      list.length = 0;
      for (let child = first[node]; child !== 0; child = next[child]) list.push(child);
      list.sort((a, b) => rank[method[a]] - rank[method[b]]);
      first[node] = list[0];
      list.forEach((child, i) => (next[child] = list[i + 1] ?? 0));
    }
    return this.renumber(first, next);
  }

  renumber(first, next) {
    const n = this.size;
    const number = new Int32Array(n);
    const parent = new Int32Array(n);
    const method = new Int32Array(n);
    const depth = new Int32Array(n);
    const end = new Int32Array(n).fill(n);
    let node = 0;
    for (let k = 0; k < n; k++) {
      number[node] = k;
      parent[k] = k === 0 ? -1 : number[this.parent[node]];
      method[k] = this.method[node];
      depth[k] = k === 0 ? 0 : depth[parent[k]] + 1;
      if (first[node] !== 0) {
        node = first[node];
        continue;
      }
      while (node !== 0 && next[node] === 0) {
        end[number[node]] = k + 1;
        node = this.parent[node];
      }
      end[number[node]] = node === 0 ? n : k + 1;
      node = next[node];
    }
    Object.assign(this, { parent, method, depth, end, table: null });
    return number;
  }

  *children(node) {
    for (let child = node + 1; child < this.end[node]; child = this.end[child]) yield child;
  }

  isUnder(node, above) {
    return node >= above && node < this.end[above];
  }
}

// Methods, classes and threads by number; their names in order.
class Methods {
  constructor() {
    this.names = [];
    this.kinds = [];
    this.sources = [];
    this.known = new Map();
  }

  number(name, kind, source = "") {
    const key = kind + name;
    let n = this.known.get(key);
    if (n === undefined) {
      n = this.names.length;
      this.known.set(key, n);
      this.names.push(name);
      this.kinds.push(kind);
      this.sources.push(source);
    }
    if (source && !this.sources[n]) this.sources[n] = source;
    return n;
  }

  // The method, class or state of that name; -1: none. Threads have names of their own: one may be called as a method is.
  find(name) {
    return this.known.get(METHOD + name) ?? this.known.get(CLASS + name) ?? this.known.get(STATE + name) ?? -1;
  }

  ranks() {
    const order = this.names.map((_, i) => i).sort((a, b) => (this.names[a] < this.names[b] ? -1 : this.names[a] > this.names[b] ? 1 : a - b));
    const rank = new Int32Array(order.length);
    order.forEach((method, at) => (rank[method] = at));
    return rank;
  }
}

const KIND_WORDS = ["method", "class", "thread", "state"];

// "waiting p.C", of a thread: its state, and the class of what it waits for.
const stateOf = (name) => name.split(" ", 1)[0];

const capital = (word) => word[0].toUpperCase() + word.slice(1);

// The class of p.C.m, and its package.
function classOf(name) {
  const bracket = name.indexOf("(");
  const dot = name.lastIndexOf(".", bracket < 0 ? name.length : bracket);
  return dot > 0 ? name.slice(0, dot) : "";
}

function packageOf(name, kind) {
  const type = kind === METHOD ? classOf(name) : name;
  const dot = type.lastIndexOf(".");
  return dot > 0 ? type.slice(0, dot) : "";
}

function shortName(name, kind) {
  const from = packageOf(name, kind).length;
  const short = from > 0 ? name.slice(from + 1) : name;
  return kind === STATE && from > 0 ? `${stateOf(name)} ${short}` : short;
}

// What a frame may be called, the longest first.
function nameForms(name, kind) {
  if (kind === METHOD) return [name, shortName(name, kind), name.slice(classOf(name).length).replace(/^\./, "")];
  return kind === CLASS ? [name, shortName(name, kind)] : kind === STATE ? [name, shortName(name, kind), stateOf(name)] : [name];
}

// Wall-clock time ends with the state of the thread, where other views end with a class: the frames are alike in the data.
function markStates({ views, nodes, frames }) {
  const wall = views.find((view) => view.key === "wall");
  wall?.node.forEach((node) => frames.kind[nodes.frame[node]] === CLASS && (frames.kind[nodes.frame[node]] = STATE));
}

const PLAIN = { reverse: false, split: false, fold: false, focus: -1, towards: "" };

// Everything the trees say: views with the samples of each side (base and new, or new alone), and the tree of all stacks.
class Profile {
  // said: what diff says, as command/diff_page.c has it; null: trees is one.
  constructor(trees, said) {
    this.said = said;
    this.head = trees[trees.length - 1];
    this.trees = trees;
    this.isDiff = trees.length > 1;
    this.methods = new Methods();
    this.views = new Map();
    this.columns = [];
    trees.forEach(markStates);
    const main = new Trie(2 ** Math.ceil(Math.log2(Math.max(...trees.map((tree) => tree.nodes.parent.length)) + 2)));
    const maps = trees.map((tree) => this.addStacks(tree, main));
    trees.forEach((tree, side) => tree.views.forEach((view) => this.addView(tree, side, view)));
    this.rank = this.methods.ranks();
    const number = main.finish(this.rank);
    maps.forEach((map) => map.forEach((node, i) => (map[i] = number[node])));
    for (const view of this.views.values()) {
      view.sides.forEach((samples, side) => samples && (samples.main = samples.node.map((node) => maps[side][node])));
    }
    this.main = main;
    this.shapes = new Map();
    this.sums = new Map();
    this.filter = { thread: -1, hidden: [], idle: false };
    this.parts = [];
    this.compared = new Map();
    this.time = this.isDiff ? null : this.head.time;
    this.hasIdle = trees.some((tree) => tree.views.some((view) => view.idle?.includes(1)));
    this.flags = null;
  }

  addStacks(tree, trie) {
    const { name, source, kind } = tree.frames;
    const method = name.map((n, frame) => (frame === 0 ? -1 : this.methods.number(tree.names[n], kind[frame], tree.names[source[frame]])));
    const { parent, frame } = tree.nodes;
    const map = new Int32Array(parent.length);
    for (let node = 1; node < map.length; node++) map[node] = trie.child(map[parent[node]], method[frame[node]]);
    tree.method = method;
    return map;
  }

  addView(tree, side, raw) {
    let view = this.views.get(raw.key);
    if (!view) {
      view = { key: raw.key, title: raw.title, exact: raw.exact, sides: this.trees.map(() => null) };
      this.views.set(raw.key, view);
    }
    const thread = raw.thread.map((name) => (name === 0 ? -1 : this.methods.number(tree.names[name], THREAD)));
    const runs = this.said?.runs[side] ?? 1; // of which the tree is the sum: a side is what one run has
    const values = new Map();
    const moments = new Map(); // of a column: of momentsOf()
    for (const [at, measure] of raw.measures.entries()) {
      const { name } = this.addColumn(view, measure);
      values.set(name, runs > 1 ? Float64Array.from(measure.values, (v) => v / runs) : measure.values);
      moments.set(name, momentsOf(raw.measures, at));
    }
    view.sides[side] = { tree, node: raw.node, thread, values, idle: raw.idle, grains: raw.grains, moments };
  }

  // Other profilers have measures that differ only in their unit: the name of the second one has it.
  addColumn(view, { name, title, unit, before }) {
    const same = this.columns.find((c) => c.view === view && c.measure === name && c.unit === unit);
    if (same) return same;
    const taken = this.columns.some((c) => c.name === name);
    const column = { view, measure: name, name: taken ? `${name} ${unit}` : name, title: taken ? `${title} (${unit})` : title, unit, before: this.isDiff ? 0 : before };
    this.columns.push(column);
    return column;
  }

  // All of a column, whatever the filter.
  whole(column) {
    const samples = column.view.sides[column.view.sides.length - 1];
    return samples?.values.get(column.name)?.reduce((a, b) => a + b, 0) ?? 0;
  }

  column(name) {
    return this.columns.find((c) => c.name === name) ?? this.columns.find((c) => c.view.key === name);
  }

  // shape: { reverse, split, fold, focus, towards }; fold: a method that calls itself is one frame; focus: a method or -1, with the stacks
  // `towards` its "callers" or "callees".
  shape(shape) {
    const key = [shape.reverse, shape.split, shape.fold, shape.focus, shape.towards].join();
    let found = this.shapes.get(key);
    if (!found) {
      const isMain = !shape.reverse && !shape.split && !shape.fold && shape.focus < 0;
      found = isMain ? { trie: this.main, targets: (samples) => samples.main } : this.build(shape);
      found.key = key;
      if (this.shapes.size > 8) this.shapes.delete(this.shapes.keys().next().value);
      this.shapes.set(key, found);
    }
    return found;
  }

  build(shape) {
    const trie = new Trie(1 << 12);
    const targets = new Map(); // parts of a run share their places
    for (const view of this.views.values()) {
      for (const samples of view.sides) if (samples && !targets.has(samples.main)) targets.set(samples.main, this.bend(samples, shape, trie));
    }
    const number = trie.finish(this.rank);
    for (const map of targets.values()) map.forEach((node, i) => (map[i] = node < 0 ? -1 : number[node]));
    return { trie, targets: (samples) => targets.get(samples.main) };
  }

  // The node of each sample in a tree of that shape; -1: it has none.
  bend(samples, shape, trie) {
    const { parent, method } = this.main;
    const map = new Int32Array(samples.main.length);
    const path = []; // from the innermost to the outermost
    for (let i = 0; i < map.length; i++) {
      path.length = 0;
      let at = -1;
      for (let node = samples.main[i]; node > 0; node = parent[node]) {
        if (!shape.fold || path.at(-1) !== method[node]) path.push(method[node]);
        if (method[node] === shape.focus) at = path.length - 1;
      }
      map[i] = shape.focus >= 0 && at < 0 ? -1 : this.lay(trie, path, shape, at, samples.thread[i]);
    }
    return map;
  }

  lay(trie, path, shape, at, thread) {
    let node = shape.split && thread >= 0 ? trie.child(0, thread) : 0;
    if (shape.focus >= 0 ? shape.towards === "callers" : shape.reverse) {
      for (let k = Math.max(at, 0); k < path.length; k++) node = trie.child(node, path[k]);
    } else {
      for (let k = at >= 0 ? at : path.length - 1; k >= 0; k--) node = trie.child(node, path[k]);
    }
    return node;
  }

  // Which samples count: of a thread by name ("": all), without the stacks that have one of the hidden methods; idle: without those of idle
  // threads.
  setFilter(thread, hidden, idle) {
    const number = thread === "" ? -1 : this.methods.known.get(THREAD + thread) ?? -2;
    this.filter = { thread: number, hidden, idle };
    this.flags = hidden.length > 0 ? this.under((method) => hidden.includes(method)) : null;
    this.sums.clear();
    this.compared.clear();
  }

  // Which parts of the run (times.js) all figures are of: one, or two that are compared; none: the whole run.
  setParts(parts) {
    this.parts = parts;
    this.isDiff = this.trees.length > 1 || parts.length > 1;
    for (const view of this.views.values()) {
      view.whole ??= view.sides.at(-1);
      if (this.time) view.sides = parts.length > 0 ? parts.map((part) => this.inPart(view, part)) : [view.whole];
    }
    this.sums.clear();
    this.compared.clear();
  }

  inPart({ whole }, part) {
    return { ...whole, values: new ValuesIn(whole, part, this.time) };
  }

  isTimed(column) {
    return this.time !== null && Boolean((column.view.whole ?? column.view.sides.at(-1)).moments.get(column.name));
  }

  // How many samples stand behind a value of a column; 0: nothing says from how many it was drawn.
  samplesPer(column) {
    const { view } = column;
    const count = this.columns.find((c) => c.view === view && c.unit === "count");
    if (view.key !== "cpu" || view.exact || !count) return 0;
    const all = (name) => (view.whole ?? view.sides.at(-1)).values.get(name).reduce((a, b) => a + b, 0);
    const effective = this.head.effective > 0 ? Math.min(1, this.head.effective / all(count.name)) : 1;
    return (effective * all(count.name)) / (all(column.name) || 1);
  }

  // What differs between two parts in what is not left out: as changes() has it, with the sums of both.
  compareParts(column, parts) {
    const key = JSON.stringify([column.name, parts]);
    if (!this.compared.has(key)) {
      const sides = parts.map((part) => this.side(column, this.inPart(column.view, part), this.shape(PLAIN)));
      this.compared.set(key, this.tellParts(column, sides.map((side) => [this.perMethod(side), side.total[0]])));
    }
    return this.compared.get(key);
  }

  tellParts(column, [[before, beforeAll], [after, afterAll]]) {
    const per = this.samplesPer(column);
    const found = [];
    this.methods.names.forEach((name, method) => {
      if (before.total[method] > 0 || after.total[method] > 0) found.push([method, "ran", [before.ran[method] * per, after.ran[method] * per]], [method, "total", [before.total[method] * per, after.total[method] * per]]);
    });
    const sure = beyondChance(found.map((figure) => figure[2]), [beforeAll * per, afterAll * per]);
    const rows = new Map();
    found.forEach(([method, what], i) => {
      const row = rows.get(method) ?? [this.methods.names[method], 0];
      row[1] |= sure[i] ? { ran: 1, total: 2 }[what] : 0;
      rows.set(method, row);
    });
    return { known: per > 0, intervals: false, rows, before, after, all: [beforeAll, afterAll], samples: [beforeAll * per, afterAll * per] };
  }

  // What diff says of a column as shares or amounts: { said, known, rows }; rows: method -> [name, bits, cells of self, cells of total].
  // null: nothing.
  changes(column, absolute) {
    if (this.parts.length > 1) return this.isTimed(column) ? this.compareParts(column, this.parts) : null;
    const measure = this.said?.measures.find(({ name, unit }) => name === column.measure && unit === column.unit);
    const mode = measure?.modes[absolute ? 1 : 0] ?? null;
    if (mode && !(mode.rows instanceof Map)) {
      const { known } = this.methods;
      const number = ([name, bits]) => (bits & 4 ? known.get(CLASS + name) ?? known.get(STATE + name) : known.get(METHOD + name)) ?? -1;
      mode.intervals = mode.rows.some((row) => row[2]?.[3]);
      mode.rows = new Map(mode.rows.map((row) => [number(row), row]));
    }
    return mode;
  }

  // Whether something is left out of what diff knew.
  isFiltered() {
    return this.parts.length === 0 && (this.filter.thread !== -1 || this.filter.hidden.length > 0 || this.filter.idle);
  }

  // Of the nodes of the tree of all stacks: whether they, or one above, are of such a method.
  under(wanted) {
    const { parent, method, size } = this.main;
    const flags = new Uint8Array(size);
    for (let node = 1; node < size; node++) flags[node] = flags[parent[node]] || wanted(method[node]) ? 1 : 0;
    return flags;
  }

  counts(samples, i) {
    const { thread, idle } = this.filter;
    return (thread === -1 || samples.thread[i] === thread) && !(this.flags && this.flags[samples.main[i]]) && !(idle && samples.idle?.[i]);
  }

  // Self and total of each node, on one side.
  side(column, samples, shape) {
    const { trie } = shape;
    const self = new Float64Array(trie.size);
    const total = new Float64Array(trie.size);
    const values = samples?.values.get(column.name);
    if (values) {
      const target = shape.targets(samples);
      for (let i = 0; i < target.length; i++) {
        if (target[i] >= 0 && this.counts(samples, i)) self[target[i]] += values[i];
      }
    }
    total.set(self);
    for (let node = trie.size - 1; node > 0; node--) total[trie.parent[node]] += total[node];
    return { self, total };
  }

  // Sums of a column over a shape: width (what frames are as wide as), and for a comparison the base. absolute: the sides as they are, not as
  // shares of their totals.
  sum(column, shape, absolute = false) {
    const key = [column.name, shape.key, absolute].join();
    let sums = this.sums.get(key);
    if (!sums) {
      const sides = column.view.sides.map((samples) => this.side(column, samples, shape));
      sums = { ...sides[sides.length - 1], base: this.isDiff ? sides[0] : null, column, shape, trie: shape.trie, absolute };
      sums.width = this.isDiff ? this.middle(sums) : sums.total;
      if (this.sums.size > 24) this.sums.clear();
      this.sums.set(key, sums);
    }
    return sums;
  }

  // In a comparison a frame is as wide as the mean of both sides, so that what is gone can be seen, too.
  middle({ total, base, absolute }) {
    const now = absolute ? 1 : 1 / (total[0] || 1);
    const then = absolute ? 1 : 1 / (base.total[0] || 1);
    return total.map((v, i) => (v * now + base.total[i] * then) / 2);
  }

  // The share of the stacks that have one of the methods.
  share(column, hit) {
    const flags = this.under((method) => hit[method]);
    const samples = column.view.sides[column.view.sides.length - 1];
    const values = samples?.values.get(column.name) ?? [];
    let all = 0;
    let found = 0;
    for (let i = 0; i < values.length; i++) {
      if (!this.counts(samples, i)) continue;
      all += values[i];
      if (flags[samples.main[i]]) found += values[i];
    }
    return all > 0 ? found / all : 0;
  }

  // By method: { self, total }, a stack once for each of its methods.
  byMethod(column) {
    const sums = this.sum(column, this.shape(PLAIN));
    sums.methods ??= [sums, sums.base].map((side) => side && this.perMethod(side));
    return { now: sums.methods[0], base: sums.methods[1], all: sums.total[0], baseAll: sums.base ? sums.base.total[0] : 0 };
  }

  perMethod({ self, total }) {
    const { method, parent, end, size } = this.main;
    const n = this.methods.names.length;
    // ran: self, of the innermost method where a class or state is the innermost frame
    const sum = { self: new Float64Array(n), total: new Float64Array(n), ran: new Float64Array(n) };
    const covered = new Int32Array(n); // up to which node the method is on the stack
    for (let node = 1; node < size; node++) {
      const m = method[node];
      const above = method[parent[node]];
      sum.self[m] += self[node];
      sum.ran[this.methods.kinds[m] === METHOD || above < 0 ? m : above] += self[node];
      if (node >= covered[m]) {
        sum.total[m] += total[node];
        covered[m] = end[node];
      }
    }
    return sum;
  }

  // The direct callers and callees of a method, the greatest first: [method, value, value in the base]; method -1: it is the outermost.
  neighbours(column, wanted) {
    const { total, base } = this.sum(column, this.shape(PLAIN));
    const { method, end, parent, size } = this.main;
    const edges = [new Map(), new Map()]; // method -> [value, base, covered]
    const add = (map, of, node) => {
      const edge = map.get(of) ?? [0, 0, 0];
      if (node >= edge[2]) {
        edge[0] += total[node];
        edge[1] += base ? base.total[node] : 0;
        edge[2] = end[node];
      }
      map.set(of, edge);
    };
    for (let node = 1; node < size; node++) {
      if (total[node] === 0 && !base?.total[node]) continue;
      const caller = parent[node] === 0 ? -1 : method[parent[node]];
      if (method[node] === wanted) add(edges[0], caller, node);
      if (caller === wanted) add(edges[1], method[node], node);
    }
    const [callers, callees] = edges.map((map) => [...map].map(([of, [value, then]]) => [of, value, then]).sort((a, b) => b[1] - a[1] || b[2] - a[2]));
    return { callers, callees };
  }

  // By line of a method, the greatest first: [line, self, total], a stack once for each of its lines.
  lines(column, wanted) {
    const samples = column.view.sides[column.view.sides.length - 1];
    const values = samples?.values.get(column.name);
    if (!values) return [];
    const { tree, node } = samples;
    const { frame, parent } = tree.nodes;
    const found = new Map(); // line -> [line, self, total, the last sample that counted]
    for (let i = 0; i < values.length; i++) {
      if (!this.counts(samples, i)) continue;
      for (let at = node[i]; at > 0; at = parent[at]) {
        if (tree.method[frame[at]] !== wanted) continue;
        const line = tree.frames.line[frame[at]];
        const sum = found.get(line) ?? [line, 0, 0, -1];
        if (at === node[i]) sum[1] += values[i];
        if (sum[3] !== i) sum[2] += values[i];
        sum[3] = i;
        found.set(line, sum);
      }
    }
    return [...found.values()].map((sum) => sum.slice(0, 3)).sort((a, b) => b[2] - a[2] || b[1] - a[1]);
  }

  // By thread, the greatest first: [thread, value, base]; -1: not told.
  threads(column) {
    const key = `threads ${column.name}`;
    if (!this.sums.has(key)) this.sums.set(key, this.sumThreads(column));
    return this.sums.get(key);
  }

  sumThreads(column) {
    const found = new Map();
    column.view.sides.forEach((samples, side) => {
      const values = samples?.values.get(column.name) ?? [];
      for (let i = 0; i < values.length; i++) {
        if ((this.flags && this.flags[samples.main[i]]) || (this.filter.idle && samples.idle?.[i])) continue;
        const sum = found.get(samples.thread[i]) ?? [samples.thread[i], 0, 0];
        sum[this.isDiff && side === 0 ? 2 : 1] += values[i];
        found.set(samples.thread[i], sum);
      }
    });
    return [...found.values()].filter((sum) => sum[1] > 0 || sum[2] > 0).sort((a, b) => b[1] - a[1] || b[2] - a[2]);
  }
}

// Half the interval at 95 % of a share of n samples (Agresti and Coull), as a fraction.
function uncertainty(share, n) {
  const z = 1.959964;
  const more = n + z * z;
  const p = (share * n + (z * z) / 2) / more;
  return n > 0 && p < 1 ? z * Math.sqrt((p * (1 - p)) / more) : 0;
}

