// SPDX-License-Identifier: BSD-2-Clause
// unpack.js: the trees, as command/tree/write_page.c packed them. Every name is text: nothing here or below makes markup of one.

// Characters that would turn the text around them.
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let unit = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * unit;
      unit *= 128;
    } while (byte > 127);
    return value;
  }

  column(n, from = 0, Type = Int32Array) {
    const column = new Type(n);
    for (let i = from; i < n; i++) column[i] = this.next();
    return column;
  }

  text(size) {
    this.at += size;
    return new TextDecoder().decode(this.bytes.subarray(this.at - size, this.at));
  }
}

// A text in which nothing turns what stands around it.
const still = (text) => text.replace(TURNING, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readFrames(numbers, n) {
  const name = numbers.column(n, 1);
  for (let i = 1; i < n; i++) name[i] = name[i - 1] + ((name[i] & 1) ? -(name[i] + 1) / 2 : name[i] / 2);
  return { name, source: numbers.column(n, 1), line: numbers.column(n, 1), kind: numbers.column(n, 1) };
}

function readNodes(numbers, n) {
  const parent = numbers.column(n, 1);
  for (let i = 1; i < n; i++) {
    let above = i - 1;
    for (let levels = parent[i]; levels > 0; levels--) above = parent[above];
    parent[i] = above;
  }
  return { parent, frame: numbers.column(n, 1) };
}

// The moments of a view, as bins of the same length: the place and the begin, in steps, of each, and the values of each measure, null where
// a measure has no times; waits: each is a wait that is longer than its bin.
function readGrain(numbers, { places, measures }, [ms, bins, waits]) {
  const counts = numbers.column(places);
  const place = new Int32Array(bins);
  const start = new Int32Array(bins);
  for (let k = 0, i = 0; k < places; k++) {
    for (let left = counts[k], at = 0; left > 0; left--, i++) {
      place[i] = k;
      start[i] = at += numbers.next();
    }
  }
  const main = measures[0].timed;
  const values = [];
  for (const { times, timed } of measures) {
    values.push(!timed ? null : times === 0 ? numbers.column(bins, 0, Float64Array) : main ? values[0].map((v) => v * times) : null);
  }
  return { ms, waits: waits === 1, place, start, values };
}

function readView(numbers, view) {
  const node = numbers.column(view.places);
  for (let i = 1; i < node.length; i++) node[i] += node[i - 1];
  const thread = numbers.column(view.places);
  const idle = view.idle ? numbers.column(view.places) : null;
  for (const measure of view.measures) {
    measure.values = measure.times === 0 ? numbers.column(view.places, 0, Float64Array) : view.measures[0].values.map((v) => v * measure.times);
  }
  return { ...view, node, thread, idle, grains: view.grains.map((grain) => readGrain(numbers, view, grain)) };
}

// What the collector did. Times are in ms since the begin of the run.
function readPauses(numbers, { pauses: n, begin }, names) {
  const ends = numbers.column(n, 0, Float64Array);
  for (let i = 0; i < n; i++) ends[i] += i > 0 ? ends[i - 1] : begin;
  const ns = numbers.column(n, 0, Float64Array);
  return [...numbers.column(n)].map((name, i) => ({ from: ends[i] - ns[i] / 1e6, to: ends[i], name: names[name] }));
}

const readObject = (numbers) => JSON.parse(numbers.text(numbers.next()), (_, value) => (typeof value === "string" ? still(value) : value));

function readTree(numbers) {
  const head = readObject(numbers);
  const names = still(numbers.text(head.bytes)).split("\0");
  const frames = readFrames(numbers, head.frames);
  const nodes = readNodes(numbers, head.nodes);
  const views = head.views.map((view) => readView(numbers, view));
  const time = head.time ? { ...head.time, pauses: readPauses(numbers, head.time, names) } : null;
  return { ...head, names, frames, nodes, views, time };
}

// One tree, or two: the side before of a comparison first, and then what diff says of it.
async function unpack(text) {
  const numbers = new Numbers(await inflate(fromBase64(text.trim())));
  const trees = [];
  for (let n = numbers.next(); n > 0; n--) trees.push(readTree(numbers));
  return { trees, said: trees.length > 1 ? readObject(numbers) : null };
}

