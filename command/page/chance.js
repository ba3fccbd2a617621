// SPDX-License-Identifier: BSD-2-Clause
// chance.js: whether shares of two parts of a run differ beyond chance: what command/tree/change.c says of one run on each side, drawn.

const FALSE_ALARMS = 0.05;
const ENOUGH = 10; // samples on both sides together: with fewer no change is beyond chance, and the test would cost the others

function logFactorial(n) {
  if (n < 32) {
    let product = 1;
    for (let i = 2; i <= n; i++) product *= i;
    return Math.log(product);
  }
  return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + (1 - (1 / (n * n)) * (1 / 30 - 1 / (105 * n * n))) / (12 * n);
}

const logChoose = (n, k) => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

// |z| is exceeded with this probability (Numerical Recipes' erfc: right to 1.2e-7 of its value).
function normal(z) {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const terms = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277];
  return t * Math.exp(-x * x + terms.reduceRight((sum, term) => sum * t + term, 0));
}

// Of x successes among n, and y among m, as uneven a split or a more uneven one: Fisher's test, twice the smaller tail.
function fisher(x, n, y, m) {
  const k = x + y;
  const all = n + m;
  if (n < 1 || m < 1 || k < 1 || k > all - 1) return 1;
  const least = Math.min(n, m);
  const fewer = Math.min(k, all - k);
  const expected = (least * fewer) / all;
  if (2 * k > all) x = n - x;
  if (n > m) x = fewer - x;
  if (expected > 1e6) return normal(Math.max(Math.abs(x - expected) - 0.5, 0) / Math.sqrt(expected * (1 - least / all) * (1 - fewer / all)));
  const most = all - least;
  const down = x < expected;
  let term = Math.exp(logChoose(least, x) + logChoose(most, fewer - x) - logChoose(all, fewer));
  let sum = 0;
  while (term > 1e-17 * sum && term > 0) {
    sum += term;
    term *= down ? (x * (most - fewer + x)) / ((least - x + 1) * (fewer - x + 1)) : ((least - x) * (fewer - x)) / ((x + 1) * (most - fewer + x + 1));
    x += down ? -1 : 1;
  }
  return sum < 0.5 ? 2 * sum : 1;
}

// The largest of the p-values that is no false alarm: of those that it lets pass at most 5 % are (Benjamini and Hochberg); -1: none.
function falseAlarmLimit(chances) {
  const sorted = Float64Array.from(chances).sort();
  for (let i = sorted.length; i > 0; i--) if (sorted[i - 1] <= (FALSE_ALARMS * i) / sorted.length) return sorted[i - 1];
  return -1;
}

// Of figures [[before, after], ...], sums of samples, 1 for each that is beyond chance. of: the samples of each side.
function beyondChance(figures, [n, m]) {
  const whole = [Math.round(n), Math.round(m)];
  const chances = figures.map(([x, y]) => (x + y >= ENOUGH && n > 0 && m > 0 ? fisher(Math.min(Math.round(x), whole[0]), whole[0], Math.min(Math.round(y), whole[1]), whole[1]) : null));
  const limit = falseAlarmLimit(chances.filter((p) => p !== null));
  return chances.map((p, i) => (p !== null && p <= limit && figures[i][0] * m !== figures[i][1] * n ? 1 : 0));
}

