// SPDX-License-Identifier: BSD-2-Clause
// times.js: when things were: parts of a run, what a view has in them, and sums over time. Times are ms since the begin of the run.
//
// A part is { from, to, rest }; rest: all of the time but that.

const SECOND = 1000;

// How long the part of a run is that has times.
function lengthOf({ from, to, rest }, { begin, end }) {
  const inside = Math.max(0, Math.min(to, end) - Math.max(from, begin));
  return rest ? end - begin - inside : inside;
}

// Of a measure: where its values are in the moments, and whether they are lengths; null: it has no times.
function momentsOf(measures, at) {
  return measures[at].timed ? { at, lengths: measures[at].unit === "ns" } : null;
}

// Each bin that has a value: run(place, from, to, value). A long wait ends with its bin; all else is anywhere in it.
function eachMoment({ grains }, { at, lengths }, { step, begin }, run) {
  for (const { ms, waits, place, start, values } of grains) {
    const column = values[at];
    for (let i = 0; i < column.length; i++) {
      const from = begin + start[i] * step;
      run(place[i], waits && lengths ? from + ms - column[i] / 1e6 : from, from + ms, column[i]);
    }
  }
}

// What each place has, by its moments.
function inMoments({ grains, node }, { at }) {
  const sums = new Float64Array(node.length);
  for (const { place, values } of grains) for (let i = 0; i < place.length; i++) sums[place[i]] += values[at][i];
  return sums;
}

// Whole numbers, of which any run of neighbours has the sum of the fractions: one by one, small counts would all be 0 or 1.
function rounded(values) {
  let rest = 0;
  return values.map((v) => {
    const whole = Math.round(v + rest);
    rest = v + rest - whole;
    return whole;
  });
}

// The values of the places of a view in a part, by column; of one without times those of the whole run.
class ValuesIn {
  constructor(whole, part, time) {
    Object.assign(this, { whole, part, time, known: new Map() });
  }

  get(name) {
    if (!this.known.has(name)) this.known.set(name, this.sum(name));
    return this.known.get(name);
  }

  sum(name) {
    const { whole, part, time } = this;
    const moments = whole.moments.get(name);
    if (!moments) return whole.values.get(name);
    const sums = new Float64Array(whole.node.length);
    eachMoment(whole, moments, time, (place, from, to, value) => {
      if (to > part.from && from < part.to) sums[place] += (value * (Math.min(to, part.to) - Math.max(from, part.from))) / (to - from);
    });
    const inside = rounded(sums);
    return part.rest ? inMoments(whole, moments).map((v, i) => v - inside[i]) : inside;
  }
}

// Adds a value to the bins from a to b, to each as much as is of it.
function pour(bins, a, b, value) {
  const from = Math.max(0, a);
  const to = Math.min(bins.length, b);
  for (let k = Math.floor(from); k < to; k++) bins[k] += (value * (Math.min(to, k + 1) - Math.max(from, k))) / (b - a);
}

// Sums of a column in n bins of equal length, for each group of places. group: of each place, -1: it does not count.
function overTime(samples, name, time, [from, to], n, group, groups) {
  const sums = Array.from({ length: groups }, () => new Float64Array(n));
  const scale = n / (to - from);
  eachMoment(samples, samples.moments.get(name), time, (place, a, b, value) => {
    if (group[place] >= 0 && b > from && a < to) pour(sums[group[place]], (a - from) * scale, (b - from) * scale, value);
  });
  return sums;
}

// The cells of a grid of seconds in which some of from..to is: run(its number, how many ms of it). A column has `each` seconds, of which the
// same row is the same part of each.
function eachCell({ first, each, columns, rows, cell }, from, to, run) {
  const long = each * SECOND;
  const begin = first * SECOND;
  const a = Math.max(from, begin);
  const b = Math.min(to, begin + columns * long);
  const before = (at, row) => Math.floor(at / SECOND) * cell + Math.min(cell, Math.max(0, (at % SECOND) - row * cell));
  for (let c = Math.floor((a - begin) / long); begin + c * long < b; c++) {
    const left = Math.max(a, begin + c * long);
    const right = Math.min(b, begin + (c + 1) * long);
    const k = Math.floor(left / cell);
    for (let i = k; i < Math.min(Math.ceil(right / cell), k + rows); i++) {
      const ms = before(right, i % rows) - before(left, i % rows);
      if (ms > 0) run(c * rows + (i % rows), ms);
    }
  }
}

// Sums of a column in such a grid; counts: whether a place does.
function inSeconds(samples, name, time, grid, counts) {
  const sums = new Float64Array(grid.columns * grid.rows);
  eachMoment(samples, samples.moments.get(name), time, (place, from, to, value) => {
    if (counts[place] >= 0) eachCell(grid, from, to, (at, ms) => (sums[at] += (value * ms) / (to - from)));
  });
  return sums;
}

// The least of 1, 2, 5, 10 ... times a unit that is not below v.
function round125(v, unit = 1) {
  let power = unit;
  while (power * 10 <= v) power *= 10;
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= v);
}

// 12.34 s, 2:05, 1:02:05.
function offset(at) {
  const ms = Math.round(at / 10) * 10;
  const s = ms / 1000;
  if (s < 120) return `${s.toFixed(ms % 1000 === 0 ? 0 : ms % 100 === 0 ? 1 : 2)} s`;
  const two = (v) => String(Math.floor(v)).padStart(2, "0");
  const part = ms % 1000 === 0 ? "" : (s % 1).toFixed(ms % 100 === 0 ? 1 : 2).slice(1);
  return `${s >= 3600 ? `${Math.floor(s / 3600)}:${two((s / 60) % 60)}` : Math.floor(s / 60)}:${two(s % 60)}${part}`;
}

// Such a text, or seconds; NaN: it is none.
function readOffset(text) {
  const parts = text.trim().replace(/\s*s$/, "").split(":");
  return parts.length > 3 || parts.some((part) => !/^\d+(\.\d*)?$/.test(part)) ? NaN : Math.round(parts.reduce((sum, part) => 60 * sum + Number(part), 0) * 1000);
}

