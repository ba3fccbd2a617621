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

function readView(numbers, view) {
  const node = numbers.column(view.samples);
  for (let i = 1; i < node.length; i++) node[i] += node[i - 1];
  const thread = numbers.column(view.samples);
  const idle = view.idle ? numbers.column(view.samples) : null;
  for (const measure of view.measures) {
    measure.values = measure.times === 0 ? numbers.column(view.samples, 0, Float64Array) : view.measures[0].values.map((v) => v * measure.times);
  }
  return { ...view, node, thread, idle };
}

const readObject = (numbers) => JSON.parse(numbers.text(numbers.next()), (_, value) => (typeof value === "string" ? still(value) : value));

function readTree(numbers) {
  const head = readObject(numbers);
  const names = still(numbers.text(head.bytes)).split("\0");
  const frames = readFrames(numbers, head.frames);
  const nodes = readNodes(numbers, head.nodes);
  return { ...head, names, frames, nodes, views: head.views.map((view) => readView(numbers, view)) };
}

// One tree, or two: the side before of a comparison first, and then what diff says of it.
async function unpack(text) {
  const numbers = new Numbers(await inflate(fromBase64(text.trim())));
  const trees = [];
  for (let n = numbers.next(); n > 0; n--) trees.push(readTree(numbers));
  return { trees, said: trees.length > 1 ? readObject(numbers) : null };
}

