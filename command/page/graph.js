// SPDX-License-Identifier: BSD-2-Clause
// graph.js: a call tree as a flame graph (callees above their caller) or icicle (below), on a canvas that is as large as its window. Subtrees
// that are narrower than a pixel are passed over, so a picture costs what it shows.

const ROW = 19;
const NARROW = 0.7; // pixels
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

const OF_JDK = /^(java|javax|jdk|sun|com\.sun)(\.|$)/;
const HUES = [24, 152, 48, 338, 186, 92, 12, 206, 70, 124];

// What a thread does: [hue, saturation in %].
const STATES = { running: [130, 55], runnable: [58, 70], blocked: [2, 80], waiting: [262, 60], parked: [222, 60], sleeping: [200, 22], io: [182, 55], native: [30, 38] };
const stateGroup = (state) => `state ${Object.hasOwn(STATES, state) ? state : "not told"}`;

const firstParts = (text, n) => text.split(".").slice(0, n).join(".");

// What shares a colour: "the JDK", or the first parts of a package.
function groupOf(name, kind, jdkToo) {
  if (kind !== METHOD) return kind === CLASS ? "classes" : kind === STATE ? stateGroup(stateOf(name)) : "threads";
  const of = packageOf(name, kind);
  if (OF_JDK.test(of) && !jdkToo) return "the JDK";
  return of === "" ? "no package" : firstParts(of, /^(com|org|net|io|edu)\./.test(of) ? 2 : 1);
}

// The group of each method: packages with nearly half of all are taken apart, and so is the JDK where hardly anything else runs. sums: of
// perMethod(), of a column with the sum `all`.
function groupMethods({ names, kinds }, sums, all) {
  const others = names.some((name, m) => kinds[m] === METHOD && !OF_JDK.test(packageOf(name, METHOD)) && sums.total[m] > all / 10);
  const groups = names.map((name, m) => groupOf(name, kinds[m], !others));
  for (let again = 0; again < 3; again++) {
    const weight = new Map();
    groups.forEach((group, m) => weight.set(group, (weight.get(group) ?? 0) + sums.ran[m]));
    groups.forEach((group, m) => {
      const of = packageOf(names[m], kinds[m]);
      if (kinds[m] === METHOD && weight.get(group) > 0.4 * all && of.startsWith(`${group}.`)) groups[m] = firstParts(of, group.split(".").length + 1);
    });
  }
  return groups;
}

class Colours {
  // groups: of methods.
  constructor(methods, groups) {
    this.methods = methods;
    this.groups = groups;
    this.hues = new Map();
    this.setTheme(false);
  }

  setTheme(dark) {
    this.dark = dark;
    this.known = [];
    this.text = dark ? "#f4f4f6" : "#16171b";
    this.dim = dark ? "rgb(21 22 27 / 62%)" : "rgb(255 255 255 / 66%)";
    this.line = dark ? "#f4f4f6" : "#16171b";
    this.hit = dark ? "#a1389f" : "#f08cf0";
    this.root = dark ? "#3a3c46" : "#dcdee4";
  }

  // In the order in which groups are met: few groups never look alike.
  hue(group) {
    if (!this.hues.has(group)) this.hues.set(group, HUES[this.hues.size] ?? (137.508 * this.hues.size) % 260);
    return this.hues.get(group);
  }

  group(group, step = 0) {
    if (group === "the JDK") return this.dark ? `hsl(216 13% ${30 + step}%)` : `hsl(216 24% ${83 + step}%)`;
    if (group === "threads") return this.dark ? `hsl(216 5% ${34 + step}%)` : `hsl(216 6% ${78 + step}%)`;
    if (group.startsWith("state ")) {
      const [hue, much] = STATES[group.slice(6)] ?? [0, 0];
      return this.dark ? `hsl(${hue} ${much * 0.6}% ${36 + step}%)` : `hsl(${hue} ${much}% ${78 + step}%)`;
    }
    if (group === "classes") return this.dark ? `hsl(268 32% ${40 + step}%)` : `hsl(268 62% ${83 + step}%)`;
    const hue = this.hue(group);
    return this.dark ? `hsl(${hue} 42% ${31 + step}%)` : `hsl(${hue} 70% ${76 + step}%)`;
  }

  // The i-th of some groups that are of nothing else.
  band(i) {
    return this.dark ? `hsl(${HUES[i % HUES.length]} 46% 46%)` : `hsl(${HUES[i % HUES.length]} 68% 66%)`;
  }

  // part: 0 to 1.
  heat(part) {
    return this.dark ? `hsl(${8 + 38 * part} ${60 + 25 * part}% ${22 + 50 * part}%)` : `hsl(${38 - 26 * part} 88% ${86 - 48 * part}%)`;
  }

  method(method) {
    if (method < 0) return this.root;
    return (this.known[method] ??= this.group(this.groups[method], (hash(this.methods.names[method]) % 5) - 2));
  }

  // change: -1 (it is gone) to 1 (it is new).
  change(change) {
    const much = Math.round(Math.min(1, Math.abs(change)) * 12) / 12;
    const hue = change > 0 ? 8 : 214;
    return this.dark ? `hsl(${hue} ${8 + 50 * much}% ${27 + 14 * much}%)` : `hsl(${hue} ${8 + 74 * much}% ${89 - 21 * much}%)`;
  }
}

class Graph {
  // on: { zoom(node), pick(node), hide(node), point(node, event), say(node) }
  constructor(host, methods, colours, on) {
    Object.assign(this, { host, methods, colours, on });
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "flame graph");
    this.canvas.setAttribute("aria-keyshortcuts", "ArrowUp ArrowDown ArrowLeft ArrowRight Enter Escape Backspace");
    this.spacer = document.createElement("div");
    host.append(this.canvas, this.spacer);
    this.paper = this.canvas.getContext("2d");
    this.labels = [];
    this.view = { x: 0, w: 1 };
    this.hover = -1;
    this.cursor = 0;
    this.sums = null;
    this.listen();
  }

  listen() {
    const { canvas, host } = this;
    new ResizeObserver(() => this.resize()).observe(host);
    host.addEventListener("scroll", () => this.draw(), { passive: true });
    canvas.addEventListener("pointermove", (event) => this.pointAt(this.nodeAt(event.offsetX, event.offsetY), event));
    canvas.addEventListener("pointerleave", (event) => this.pointAt(-1, event));
    canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node < 0) return;
      this.cursor = node;
      if (event.altKey) this.on.hide(node);
      else this.on.zoom(node);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
  }

  // sums: of stacks.js. up: a flame graph. hit: of methods, or null. change(node): of a comparison, or null. label: of the canvas.
  show({ sums, up, hit, change, label, zoom, mark }) {
    const fresh = this.sums?.trie !== sums.trie;
    const changed = this.sums !== sums;
    const moved = changed || this.up !== up || this.wanted !== zoom;
    Object.assign(this, { sums, up, hit, change, mark });
    this.canvas.setAttribute("aria-label", label);
    if (fresh) this.cursor = zoom;
    if (changed) this.layOut();
    this.wanted = zoom;
    if (moved) this.zoomTo(zoom, changed); // of other values no width of before means anything
    else this.resize(); // and stay where the reader has scrolled to
  }

  layOut() {
    const { trie, width } = this.sums;
    const x = new Float64Array(trie.size);
    const next = new Float64Array(trie.size); // where a node's next child begins
    for (let node = 1; node < trie.size; node++) {
      const parent = trie.parent[node];
      x[node] = next[node] = next[parent];
      next[parent] += width[node];
    }
    this.x = x;
  }

  // How many rows the zoomed part has that can be seen.
  countLevels() {
    const { trie, width } = this.sums;
    const least = (NARROW * (width[this.zoom] || 1)) / (this.host.clientWidth || 1);
    let deepest = trie.depth[this.zoom];
    for (let node = this.zoom; node < trie.end[this.zoom];) {
      if (trie.depth[node] > deepest && width[node] >= least) deepest = trie.depth[node];
      node = width[node] < least ? trie.end[node] : node + 1;
    }
    this.levels = this.rows = deepest + 1;
  }

  // As tall as the window has room below what stands above.
  fit() {
    const { host, canvas } = this;
    this.countLevels();
    const all = this.levels * ROW;
    const room = window.innerHeight - (host.getBoundingClientRect().top + window.scrollY) - 24;
    const tall = Math.max(8 * ROW, Math.min(all, Math.max(14 * ROW, room)));
    if (this.up && all < tall) this.levels = Math.floor(tall / ROW);
    host.style.height = `${tall}px`;
    this.wide = host.clientWidth;
    this.tall = tall;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(this.wide * ratio));
    canvas.height = Math.max(1, Math.round(tall * ratio));
    canvas.style.width = `${this.wide}px`;
    canvas.style.height = `${tall}px`;
    this.spacer.style.height = `${Math.max(0, all - tall)}px`;
  }

  // A new size clears the canvas, and a picture may be taken before the next frame: it is painted here.
  resize() {
    if (!this.sums) return;
    this.fit();
    this.paint(performance.now());
  }

  zoomTo(node, at_once = false) {
    const { trie, width } = this.sums;
    this.zoom = node < trie.size && width[node] > 0 ? node : 0;
    this.goal = { x: this.x[this.zoom], w: width[this.zoom] || 1 };
    this.fit();
    this.reveal(trie.depth[this.zoom]);
    if (!trie.isUnder(this.cursor, this.zoom)) this.cursor = this.zoom;
    if (at_once || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.view = this.goal;
      this.from = null;
    } else {
      this.from = { ...this.view, since: 0 };
    }
    this.paint(performance.now());
  }

  top(depth, levels = this.levels) {
    return this.up ? (levels - 1 - depth) * ROW : depth * ROW;
  }

  reveal(depth) {
    const y = this.top(depth);
    const at = this.host.scrollTop;
    if (y < at) this.host.scrollTop = this.up ? y - ROW : y;
    else if (y + ROW > at + this.tall) this.host.scrollTop = y + ROW - this.tall;
    if (depth === 0) this.host.scrollTop = this.up ? this.levels * ROW : 0;
  }

  draw() {
    if (!this.asked && this.sums) this.asked = requestAnimationFrame((now) => this.paint(now));
  }

  step(now) {
    this.from.since ||= now; // its first picture
    const part = Math.min(1, Math.max(0, (now - this.from.since) / 220));
    const eased = 1 - (1 - part) ** 3;
    // the width in proportion, so that the speed looks even; the place follows
    const w = this.from.w * (this.goal.w / this.from.w) ** eased;
    const way = this.from.w === this.goal.w ? eased : (this.from.w - w) / (this.from.w - this.goal.w);
    this.view = { w, x: this.from.x + (this.goal.x - this.from.x) * way };
    if (part === 1) {
      this.view = this.goal;
      this.from = null;
    }
  }

  paint(now) {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    if (this.from) this.step(now);
    const { paper, wide, tall } = this;
    const ratio = window.devicePixelRatio || 1;
    paper.setTransform(ratio, 0, 0, ratio, 0, 0);
    paper.clearRect(0, 0, wide, tall);
    paper.font = FONT;
    paper.textBaseline = "middle";
    paper.direction = "ltr";
    const scale = wide / this.view.w;
    const scroll = this.host.scrollTop;
    for (const [node, left, w] of this.visible(this.view)) {
      const y = this.top(this.sums.trie.depth[node]) - scroll;
      if (y > -ROW && y < tall) this.frame(node, left, y, w);
    }
    for (const node of [this.hover, document.activeElement === this.canvas ? this.cursor : -1]) if (node >= 0) this.outline(node, scale, scroll);
    if (this.from) this.draw();
  }

  // The frames that can be seen: [node, left, width] in pixels.
  *visible(view) {
    const { wide, x } = this;
    const { trie, width } = this.sums;
    const scale = wide / view.w;
    for (let node = 0; node < trie.size;) {
      const w = width[node] * scale;
      const left = (x[node] - view.x) * scale;
      if (w < NARROW || left >= wide || left + w <= 0) {
        node = trie.end[node];
        continue;
      }
      yield [node, Math.max(left, 0), Math.min(left + w, wide) - Math.max(left, 0)];
      node++;
    }
  }

  isFound(method) {
    return this.hit && method >= 0 && this.hit[method];
  }

  colour(node) {
    const method = this.sums.trie.method[node];
    return this.isFound(method) ? this.colours.hit : this.change && node !== 0 ? this.colours.change(this.change(node)) : this.colours.method(method);
  }

  isFaded(node) {
    const { trie } = this.sums;
    return trie.depth[node] < trie.depth[this.zoom] || (this.hit && !this.isFound(trie.method[node]) && node !== 0);
  }

  frame(node, left, y, w) {
    const { paper, colours, sums } = this;
    const method = sums.trie.method[node];
    const gap = w > 3 ? 1 : 0;
    paper.fillStyle = this.colour(node);
    paper.fillRect(left, y, w - gap, ROW - 1);
    const text = w > 24 ? this.label(node, w - gap - 8) : "";
    if (text) {
      paper.fillStyle = colours.text;
      paper.fillText(text, left + 4, y + ROW / 2);
    }
    if (this.isFaded(node)) {
      paper.fillStyle = colours.dim;
      paper.fillRect(left, y, w - gap, ROW - 1);
    }
    if (method >= 0 && method === this.mark && w > 2) {
      paper.fillStyle = colours.line;
      paper.fillRect(left, y + ROW - 3, w - gap, 2);
    }
  }

  outline(node, scale, scroll) {
    const { paper } = this;
    const left = Math.max(0, (this.x[node] - this.view.x) * scale);
    const right = Math.min(this.wide, (this.x[node] + this.sums.width[node] - this.view.x) * scale);
    paper.strokeStyle = this.colours.line;
    paper.lineWidth = node === this.cursor && document.activeElement === this.canvas ? 2 : 1;
    paper.strokeRect(left + 1, this.top(this.sums.trie.depth[node]) - scroll + 0.5, Math.max(2, right - left - 2), ROW - 2);
  }

  // The longest of the name's forms that has room, or a part of the shortest.
  label(node, room) {
    const method = this.sums.trie.method[node];
    const sign = this.change && node !== 0 ? this.on.sign(node) + " " : "";
    const forms = method < 0 ? this.forms(method) : (this.labels[method] ??= this.forms(method)); // the root has the name of the view
    const before = sign ? this.measure(sign) : 0;
    let form = forms[forms.length - 1];
    for (const longer of forms) {
      if (longer.width + before <= room) {
        form = longer;
        break;
      }
    }
    let text = form.text;
    if (form.width + before > room) {
      const n = Math.floor(((room - before - 12) / form.width) * text.length);
      if (n < 2) return "";
      text = text.slice(0, n).replace(/[\ud800-\udbff]$/, "") + "…"; // no half of a character
    }
    return sign + text;
  }

  forms(method) {
    const name = method < 0 ? this.sums.column.view.title : this.methods.names[method].slice(0, 400);
    const kind = method < 0 ? THREAD : this.methods.kinds[method];
    return nameForms(name, kind).map((text) => ({ text, width: this.measure(text) }));
  }

  measure(text) {
    this.paper.font = FONT;
    return this.paper.measureText(text).width;
  }

  nodeAt(px, py) {
    if (!this.sums) return -1;
    const { trie, width } = this.sums;
    const row = Math.floor((py + this.host.scrollTop) / ROW);
    const depth = this.up ? this.levels - 1 - row : row;
    const at = this.view.x + (px / this.wide) * this.view.w;
    let node = 0;
    while (trie.depth[node] < depth) {
      let next = -1;
      for (const child of trie.children(node)) {
        if (at >= this.x[child] && at < this.x[child] + width[child]) {
          next = child;
          break;
        }
      }
      if (next < 0) return -1;
      node = next;
    }
    return depth >= 0 ? node : -1;
  }

  pointAt(node, event) {
    this.on.point(node, event);
    if (node !== this.hover) {
      this.hover = node;
      this.canvas.style.cursor = node >= 0 ? "pointer" : "default";
      this.draw();
    }
  }

  // The frame beside `node` in its row that can be seen, in the zoomed part.
  beside(node, right) {
    const { trie, width } = this.sums;
    const least = (NARROW * this.goal.w) / this.wide;
    const depth = trie.depth[node];
    for (let at = right ? trie.end[node] : node - 1; at > this.zoom && at < trie.end[this.zoom]; at += right ? 1 : -1) {
      if (trie.depth[at] === depth && width[at] >= least) return at;
    }
    return node;
  }

  widest(node) {
    let best = node;
    for (const child of this.sums.trie.children(node)) {
      if (this.sums.width[child] > 0 && (best === node || this.sums.width[child] > this.sums.width[best])) best = child;
    }
    return best;
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { trie } = this.sums;
    const at = this.cursor;
    const out = this.up ? "ArrowUp" : "ArrowDown"; // away from the root
    const back = this.up ? "ArrowDown" : "ArrowUp";
    const moves = {
      [out]: () => this.widest(at),
      [back]: () => Math.max(0, trie.parent[at]),
      ArrowLeft: () => this.beside(at, false),
      ArrowRight: () => this.beside(at, true),
      Home: () => 0,
    };
    if (moves[event.key]) {
      this.cursor = moves[event.key]();
      if (!trie.isUnder(this.cursor, this.zoom)) this.on.zoom(this.cursor, true);
      this.reveal(trie.depth[this.cursor]);
      this.on.say(this.cursor);
    } else if (event.key === "Enter" || event.key === " ") {
      this.on.zoom(at);
    } else if (event.key === "Backspace" || event.key === "Escape") {
      this.on.zoom(event.key === "Escape" ? 0 : Math.max(0, trie.parent[this.zoom]), true);
    } else if (event.key === "h") {
      this.on.hide(at);
    } else if (event.key === "d") {
      this.on.pick(at);
    } else if (event.key === "c") {
      this.on.copy(at);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }

  // The picture as a file: all rows of the zoomed part. title(node): what a frame says. Nothing here joins names to markup: the serializer
  // escapes them.
  svg(heading, title) {
    const { paper, colours, wide } = this;
    const all = this.rows * ROW + 24;
    const picture = document.implementation.createDocument("http://www.w3.org/2000/svg", "svg");
    const put = (to, tag, attributes, text) => {
      const element = picture.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (text) element.append(text.replace(NOT_XML, "\ufffd"));
      return to.appendChild(element);
    };
    const hex = (colour) => {
      paper.fillStyle = colour; // which makes it #rrggbb: few programs know hsl()
      return paper.fillStyle;
    };
    const root = picture.documentElement;
    for (const [key, value] of Object.entries({ width: wide, height: all, viewBox: `0 0 ${wide} ${all}`, "font-family": "system-ui, sans-serif", "font-size": 12 })) root.setAttribute(key, value);
    put(root, "rect", { width: "100%", height: "100%", fill: hex(colours.dark ? "#1e2027" : "#ffffff") });
    put(root, "text", { x: 4, y: 16, fill: hex(colours.text), "font-weight": "bold" }, heading);
    for (const [node, left, w] of this.visible(this.goal)) {
      const gap = w > 3 ? 1 : 0;
      const y = 24 + this.top(this.sums.trie.depth[node], this.rows);
      const group = put(root, "g", this.isFaded(node) ? { opacity: 0.4 } : {});
      put(group, "title", {}, title(node));
      put(group, "rect", { x: left.toFixed(1), y, width: (w - gap).toFixed(1), height: ROW - 1, fill: hex(this.colour(node)) });
      const text = w > 24 ? this.label(node, w - gap - 8) : "";
      if (text) put(group, "text", { x: (left + 4).toFixed(1), y: y + 13, fill: hex(colours.text) }, text);
    }
    return new XMLSerializer().serializeToString(picture);
  }
}
