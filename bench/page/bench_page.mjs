// SPDX-License-Identifier: BSD-2-Clause
// bench_page.mjs: see run.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { launch, open } from "../../tests/page/browse.mjs";

const { PROGRAM, WORK } = process.env;
const source = path.join(WORK, "stacks.folded");
const file = path.join(WORK, "stacks.html");
const sorted = (values) => [...values].sort((a, b) => a - b);
const at = (values, part) => values[Math.min(values.length - 1, Math.floor(values.length * part))];

// Zooms to frames all over the picture and back; how long each frame took, and each event.
async function zooms() {
  const canvas = document.querySelector("canvas");
  const frames = [];
  const events = [];
  const settle = async (act) => {
    const began = performance.now();
    act();
    events.push(performance.now() - began);
    let before = await new Promise(requestAnimationFrame);
    for (let i = 0; i < 15; i++) {
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - before);
      before = now;
    }
  };
  for (let i = 0; i < 20; i++) {
    const box = canvas.getBoundingClientRect();
    const place = { clientX: box.left + box.width * ((i * 0.37 + 0.1) % 1), clientY: box.bottom - 19 * (2 + (i % 8)) - 10, bubbles: true };
    await settle(() => canvas.dispatchEvent(new PointerEvent("click", place)));
    await settle(() => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })));
  }
  return { frames, events };
}

const began = performance.now();
execFileSync(PROGRAM, ["convert", source, file]);
console.log(`convert: ${statSync(source).size} bytes of collapsed stacks to a page of ${(statSync(file).size / 1e6).toFixed(2)} MB in ${Math.round(performance.now() - began)} ms`);
const browser = await launch();
const ready = [];
let seen;
for (let i = 0; i < 5; i++) {
  const page = await open(browser, file, { still: false, width: 1400, height: 900 });
  ready.push(Number(await page.$eval("html", (e) => e.dataset.ready)));
  if (i === 4) seen = await page.evaluate(zooms);
  await page.close();
}
await browser.close();
console.log(`open: ${sorted(ready).join(", ")} ms until it can be used`);
const frames = sorted(seen.frames);
const events = sorted(seen.events);
console.log(`zoom: ${frames.length} frames, median ${at(frames, 0.5).toFixed(1)} ms, 95 % below ${at(frames, 0.95).toFixed(1)}, longest ${at(frames, 1).toFixed(1)}; a click or key takes ${at(events, 0.5).toFixed(1)} ms (median), ${at(events, 1).toFixed(1)} at most`);
