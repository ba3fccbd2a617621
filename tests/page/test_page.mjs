// SPDX-License-Identifier: BSD-2-Clause
// test_page.mjs: the page in Chromium: its values against those of the source, and everything that a reader can do with it. Run by tests/page/run.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AXE, folded, launch, open } from "./browse.mjs";
import { addTests, rhythm } from "./times.mjs";

const { PROGRAM, WORK, SHOTS, PATTERN } = process.env;
const mix = path.join(WORK, "mix.txt");
const tests = [];
const test = (name, run) => tests.push({ name, run });
let browser;

function convert(text, name, ...options) {
  const file = path.join(WORK, name);
  writeFileSync(`${file}.folded`, text);
  execFileSync(PROGRAM, ["convert", ...options, `${file}.folded`, `${file}.html`]);
  return `${file}.html`;
}

// The page of hprofx diff, and beside it in told.get(page) what the terminal says. Texts: a run each.
const told = new Map();
function compare(before, after, name, ...options) {
  const file = path.join(WORK, name);
  const sides = [before, after].map((texts, side) => [texts].flat().map((text, i) => {
    writeFileSync(`${file}.${side}.${i}.folded`, text);
    return `${file}.${side}.${i}.folded`;
  }));
  const { status, stdout, stderr } = spawnSync(PROGRAM, ["diff", ...options, "-o", `${file}.html`, ...sides[0], "--", ...sides[1]], { encoding: "utf-8", maxBuffer: 1 << 28 });
  assert.ok([0, 1, 6].includes(status) && stderr === "", `${status} ${stderr}`);
  told.set(`${file}.html`, stdout);
  return `${file}.html`;
}

async function withPage(file, options, run) {
  const page = await open(browser, file, options);
  try {
    await run(page);
    assert.deepEqual(page.trouble, []);
  } finally {
    await page.close();
  }
}

const HOSTILE = ["</script><img src=x onerror=alert(1)>.m", "\"'`${alert(1)}.m", "<!--<script>.m", "__proto__", "constructor.prototype", "evil\u202Egnp.m\u2066", "\u05d0\u05d1.\u05d2", "x".repeat(4000) + ".m", "&amp.&#60b.m", "]]>.m", "{{data}}.{{script}}", "😀.m"];

const BASE = "m;a 500\nm;b 300\nm;gone 200\n";
const NEW = "m;a 1000\nm;b 800\nm;fresh 200\n";

const small = () => convert("a.B.main;a.B.run;c.D.x 60\na.B.main;a.B.run;c.D.y 30\na.B.main;e.F.z 10\n", "small");
const state = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const say = (page) => text(page, "#say");
const rows = (page, table) => page.$$eval(`table.${table} tbody tr`, (trs) => trs.map((tr) => [...tr.cells].map((cell) => cell.title || cell.textContent)));
const exactly = (title) => Number(title.replace(/[^0-9].*$/, "") && title.split(" ")[0].replaceAll(",", ""));
const press = (page, id) => page.$eval(`#${id}`, (e) => e.click());

// The middle of the row that many levels from the root of the first graph.
async function row(page, level, part = 0.5) {
  return page.$eval("canvas", (canvas, at, x) => {
    const box = canvas.getBoundingClientRect();
    const up = document.querySelector('#modes [data-mode="flame"]').getAttribute("aria-pressed") === "true";
    return { x: box.left + box.width * x, y: up ? box.bottom - 19 * at - 10 : box.top + 19 * at + 10 };
  }, level, part);
}

test("a_page_of_filtered_stacks_says_which_and_of_how_many", () => withPage(convert("a.B.main;c.D.x 60\na.B.main;c.D.y 30\ne.F.z 10\n", "filtered", "--include", "a.B", "--exclude", "*.y"), {}, async (page) => {
  const facts = await text(page, "#facts");
  assert.match(facts, /CPU samples60 of 100/);
  assert.match(facts, /Filtered by--include a\.B --exclude '\*\.y'/);
  assert.ok((await page.$$eval("*", (all) => all.map((e) => e.childElementCount === 0 ? e.textContent : ""))).some((t) => /60 samples of 100/.test(t)));
}));

async function openWhole(page, table) {
  for (let more; (more = await page.$(`.${table} ~ p.more button`));) await more.evaluate((button) => button.click());
}

// ---- values ----

for (const view of ["samples", "cpu", "alloc_objects", "alloc_space", "inuse_space", "contentions", "delay"]) {
  test(`self_and_total_of_every_method_are_those_of_the_profile: ${view}`, () => withPage(path.join(WORK, "mix.html"), { fragment: `views=${view}&mode=methods` }, async (page) => {
    const source = folded(PROGRAM, mix, view);
    await openWhole(page, "methods");
    const shown = await rows(page, "methods");
    assert.equal(shown.length, source.total.size);
    for (const cells of shown) {
      const name = cells[cells.length - 1].replace(/class$/, "").trim();
      const known = source.total.has(name) ? name : name.replaceAll(";", ",");
      const [self, , total] = cells.slice(-4);
      assert.deepEqual([exactly(self), exactly(total)], [source.self.get(known) ?? 0, source.total.get(known)], name);
    }
  }));
}

test("the_call_tree_has_the_sums_of_the_stacks_that_begin_so", () => withPage(path.join(WORK, "mix.html"), { fragment: "mode=tree" }, async (page) => {
  const source = folded(PROGRAM, mix, "samples");
  for (let i = 0; i < 60; i++) {
    const opened = await page.$$eval('tr[aria-expanded="false"]', (all) => all[0]?.click() ?? all.length);
    if (opened === 0) break;
  }
  const shown = await page.$$eval("table.calltree tbody tr", (trs) => trs.filter((tr) => tr.dataset.node).map((tr) => [Number(tr.ariaLevel ?? tr.getAttribute("aria-level")), tr.querySelector(".name").textContent, tr.cells[1].title]));
  assert.ok(shown.length > 20);
  const way = [];
  for (const [level, name, value] of shown) {
    way.length = Math.max(0, level - 2);
    if (level > 1) way.push(name.replaceAll(";", ","));
    assert.equal(exactly(value), level === 1 ? source.all : source.prefix.get(way.join(";")), way.join(";"));
  }
}));

test("callers_and_callees_count_a_stack_once_for_each", () => withPage(convert("m;a;r;r;r;b 5\nm;r;a;r;b 7\nm;c;r 2\nr 1\n", "recursive"), { fragment: "method=r" }, async (page) => {
  const table = (label) => page.$$eval(`table[aria-label="${label}"] tbody tr`, (trs) => trs.map((tr) => [tr.cells[1].textContent, tr.cells[0].title.split(" ")[0]]));
  assert.deepEqual(Object.fromEntries(await table("Callers")), { a: "12", m: "7", r: "5", c: "2", outermost: "1" });
  assert.deepEqual(Object.fromEntries(await table("Callees")), { b: "12", a: "7", r: "5" });
  assert.match(await text(page, "#panel dl"), /Self20\.0 %, 3Total100 %, 15/);
}));

test("the_graphs_of_callers_and_of_callees_have_every_stack_of_the_method", () => withPage(convert("m;a;r;x 5\nm;b;r;y 7\nm;c 2\n", "towards"), { fragment: "method=r&mode=tree" }, async (page) => {
  const buttons = await page.$$("#panel .buttons button");
  await buttons[0].click();
  assert.deepEqual((await state(page)).towards, "callers");
  const shown = async () => (await page.$$eval("table.calltree tbody tr", (trs) => trs.map((tr) => `${tr.querySelector(".name").textContent} ${tr.cells[1].textContent}`))).join(", ");
  assert.equal(await shown(), "all other 12, r 12, b 7, m 7, a 5".replace("other", (await shown()).split(" ")[1]));
  await (await page.$$("#panel .buttons button"))[1].click();
  assert.match(await shown(), /^all \S+ 12, r 12, y 7, x 5$/);
}));

// A profile as HPROF writes it: traces of [thread, count, frames from the innermost on]; report: lines of hprofx behind the table.
function hprof(name, traces, report = []) {
  const file = path.join(WORK, name);
  const threads = [...new Set(traces.map(([thread]) => thread))];
  writeFileSync(`${file}.txt`, ["JAVA PROFILE 1.0.1, created Tue Jan  6 10:00:00 2026", "", "--------", "",
    ...threads.map((thread, i) => `THREAD START (obj=50000100, id = ${200001 + i}, name="${thread}", group="main")`),
    ...traces.flatMap(([thread, , frames], i) => [`TRACE ${300001 + i}: (thread=${200001 + threads.indexOf(thread)})`, ...frames.map((frame) => `\t${frame}`)]),
    `CPU SAMPLES BEGIN (total = ${traces.reduce((sum, [, n]) => sum + n, 0)}) Tue Jan  6 10:00:01 2026`, "rank   self  accum   count trace method",
    ...traces.map(([, n, [frame]], i) => `${String(i + 1).padStart(4)}  1.00%  1.00% ${String(n).padStart(7)} ${300001 + i} ${frame.split("(")[0]}`), "CPU SAMPLES END", ...report.map((line) => `hprofx: ${line}`), ""].join("\n"));
  execFileSync(PROGRAM, ["convert", `${file}.txt`, `${file}.html`]);
  return `${file}.html`;
}

// With all that a verdict may say.
const wordy = () => hprof("wordy", Array.from({ length: 40 }, (_, i) => ["main", 100 + i, [`com.acme.orders.prices.Discounts.compute${i}(D.java:1)`, ...Array.from({ length: 40 }, (_, k) => `com.acme.orders.Main.step${k}(M.java:1)`)]]), [
  "samples: 4780 (one per 10 ms of CPU time of a Java thread)", "effective samples: 4000", "lost: 12 (of samples, because a ring was full)", "own CPU time: 1.250 s (2.61 % of the program's)",
  "kept by the process: 31 methods", "profile: 2, from 1764096858123 to 1764096868456 ms since 1970", "without debug information: 214 compiled methods with 12.5 % of the samples, because they were compiled before the agent was loaded into the JVM"]);

test("lines_count_a_stack_once_and_self_where_it_ran", () => withPage(hprof("lines", [
  ["main", 5, ["a.B.f(B.java:12)", "a.B.f(B.java:10)", "a.B.f(B.java:10)", "a.B.main(B.java:3)"]], ["main", 3, ["a.B.f(B.java:10)", "a.B.main(B.java:3)"]], ["main", 2, ["a.B.g(B.java:20)", "a.B.f(B.java:11)"]],
]), { fragment: "method=a.B.f" }, async (page) => {
  const lines = await page.$$eval('table[aria-label="Lines"] tbody tr', (trs) => trs.map((tr) => [...tr.cells].map((cell) => Number.parseInt(cell.title || cell.textContent, 10))));
  assert.deepEqual(lines, [[10, 3, 8], [12, 5, 5], [11, 0, 2]]);
}));

test("very_many_threads_are_shown_in_part_and_the_page_says_so", () => withPage(hprof("threads", Array.from({ length: 1500 }, (_, i) => [`t${i}`, 1 + (i % 7), ["a.B.f(B.java:12)"]])), { fragment: "mode=threads" }, async (page) => {
  assert.equal((await rows(page, "threads")).length, 1000);
  assert.equal(await text(page, ".threads ~ p.more"), "Threads not shown, with smaller values: 500");
  assert.equal(await page.$$eval("#thread option", (all) => all.length), 1001);
}));

test("measures_that_differ_in_their_unit_alone_are_two", async () => {
  const file = path.join(WORK, "units"); // of pprof: x in count (3 and 4), x in bytes (100 and 200)
  writeFileSync(`${file}.pb.gz`, Buffer.from("H4sIAJ0aB2sC/+Ni4WAUYOICkcxC7FyMjEJMzClCHFyMTELMLCcYlTg4GJVAkoxaIJIFyGcC8pnAfCYBViMGI8YKI9bk/NK8EiPWpMqS1GIjxkQjxiQAQg9By1gAAAA=", "base64"));
  execFileSync(PROGRAM, ["convert", `${file}.pb.gz`, `${file}.html`]);
  await withPage(`${file}.html`, {}, async (page) => {
    assert.deepEqual(await page.$$eval("#views button", (all) => all.map((e) => e.textContent)), ["x7 x", "x (bytes)300 bytes"]);
  });
});

test("numbers_beyond_32_bits_are_whole", () => withPage(convert("a 9007199254740991\nb 4294967296\n", "large"), { fragment: "mode=methods" }, async (page) => {
  assert.deepEqual((await rows(page, "methods")).map((cells) => exactly(cells[1])), [9007199254740991, 4294967296]);
}));

test("a_stack_without_frames_counts_for_the_whole", () => withPage(convert("[no stack] 3\na 1\n", "nostack"), { fragment: "mode=tree" }, async (page) => {
  assert.match((await rows(page, "calltree"))[0].join(" "), /100 % 4 /);
}));

// ---- what a reader does ----

test("a_click_zooms_and_shows_the_method", () => withPage(small(), {}, async (page) => {
  const at = await row(page, 3, 0.2);
  await page.mouse.move(at.x, at.y);
  assert.match(await text(page, "#tip"), /^c\.D\.x60\.0 % of .*self 60\.0 %/);
  await page.mouse.click(at.x, at.y);
  assert.equal((await state(page)).method, "c.D.x");
  assert.equal(await text(page, "#method-name"), "c.D.x");
  const again = await row(page, 3, 0.95); // the frame is as wide as the graph now
  await page.mouse.move(again.x, again.y);
  assert.match(await text(page, "#tip"), /^c\.D\.x.*100 % of the frame zoomed to/);
  await page.keyboard.press("Escape");
  assert.equal((await state(page)).zoom, undefined);
}));

// A clock that only tick() moves.
const ownClock = (page) => page.evaluateOnNewDocument(() => {
  let now = 0;
  const asked = [];
  window.requestAnimationFrame = (run) => asked.push(run);
  performance.now = () => now;
  window.tick = (ms) => {
    now += ms;
    asked.splice(0).forEach((run) => run(now));
  };
});

for (const still of [false, true]) {
  test(`a_zoom_${still ? "is_at_once_where_the_reader_wants_no_motion" : "moves"}`, () => withPage(small(), { still, before: ownClock, fragment: "method=c.D.x" }, async (page) => {
    const pictures = await page.evaluate(() => {
      const canvas = document.querySelector("canvas");
      const box = canvas.getBoundingClientRect();
      window.tick(1);
      canvas.dispatchEvent(new PointerEvent("click", { clientX: box.left + box.width * 0.2, clientY: box.bottom - 19 * 3 - 10, bubbles: true }));
      return [20, 50, 50, 50, 50, 50, 50].map((ms) => {
        window.tick(ms);
        return canvas.toDataURL();
      });
    });
    assert.equal((await state(page)).zoom, "3");
    assert.equal(new Set(pictures).size, still ? 1 : 5);
  }));
}

test("keys_move_between_frames_and_say_each", () => withPage(small(), {}, async (page) => {
  await page.focus("canvas");
  const go = async (key) => {
    await page.keyboard.press(key);
    return say(page);
  };
  assert.match(await go("ArrowUp"), /^a\.B\.main, 100 % of .*level 1$/);
  assert.match(await go("ArrowUp"), /^a\.B\.run, 90\.0 % of .*self 0 %.*level 2$/);
  assert.match(await go("ArrowRight"), /^e\.F\.z, 10\.0 %/);
  assert.match(await go("ArrowLeft"), /^a\.B\.run/);
  await page.keyboard.press("Enter");
  assert.equal((await state(page)).zoom, "2");
  assert.match(await go("ArrowUp"), /^c\.D\.x, 60\.0 %.*66\.7 % of the frame zoomed to/);
  await page.keyboard.press("Backspace");
  assert.equal((await state(page)).zoom, "1");
  await page.keyboard.press("Escape");
  assert.equal((await state(page)).zoom, undefined);
  assert.match(await go("Home"), /^all /);
  await page.keyboard.press("2");
  assert.equal((await state(page)).mode, "icicle");
  await page.focus("canvas");
  assert.match(await go("ArrowDown"), /^a\.B\.main/);
  await page.keyboard.press("?");
  assert.equal(await page.$eval("#help", (e) => e.open), true);
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  assert.equal((await state(page)).mode, "tree");
  await page.keyboard.press("r");
  assert.equal((await state(page)).reverse, "1");
}));

test("keys_open_and_close_the_call_tree", () => withPage(small(), { fragment: "mode=tree" }, async (page) => {
  const focused = () => page.evaluate(() => [document.activeElement.querySelector(".name")?.textContent, document.activeElement.getAttribute("aria-expanded")]);
  await page.focus("tr[tabindex='0']");
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  assert.deepEqual(await focused(), ["a.B.run", "true"]);
  await page.keyboard.press("ArrowLeft");
  assert.deepEqual(await focused(), ["a.B.run", "false"]);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await focused(), ["c.D.x", null]);
  await page.keyboard.press("ArrowLeft");
  assert.deepEqual((await focused())[0], "a.B.run");
}));

test("search_tells_the_share_of_the_stacks_that_match", () => withPage(path.join(WORK, "mix.html"), {}, async (page) => {
  const source = folded(PROGRAM, mix, "samples");
  const share = (matches) => (100 * source.stacks.filter(([stack]) => stack.some(matches)).reduce((sum, [, v]) => sum + v, 0)) / source.all;
  await page.keyboard.press("/");
  await page.keyboard.type("mix.LITTLE".toLowerCase());
  const told = async () => Number.parseFloat(await text(page, "#found"));
  assert.ok(Math.abs((await told()) - share((m) => m.toLowerCase().includes("mix.little"))) <= 0.05);
  await page.keyboard.press("Escape");
  assert.equal(await text(page, "#found"), "");
  await press(page, "regex");
  await page.type("#search", "^Mix\\.(much|little)$");
  assert.ok(Math.abs((await told()) - share((m) => /^Mix\.(much|little)$/.test(m))) <= 0.05);
  await page.type("#search", "(");
  assert.match(await text(page, "#found"), /not a regular expression/);
}));

test("the_root_is_called_as_what_is_shown", () => withPage(path.join(WORK, "mix.html"), { before: (p) => p.evaluateOnNewDocument(() => {
  window.drawn = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.drawn.push(text);
    return fillText.call(this, text, ...place);
  };
}) }, async (page) => {
  const drawn = async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    return page.evaluate(() => window.drawn.splice(0));
  };
  assert.ok((await drawn()).includes("CPU"));
  await page.evaluate(() => [...document.querySelectorAll("#views button")].find((b) => b.textContent.startsWith("Monitors")).click());
  const now = await drawn();
  assert.ok(now.includes("Monitors") && !now.includes("CPU"), now.join());
}));

test("a_thread_is_no_method_to_hide", () => withPage(path.join(WORK, "mix.html"), { fragment: "split=1" }, async (page) => {
  await page.focus("canvas");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("h");
  assert.equal(await text(page, "#chips"), "");
}));

test("a_row_of_the_call_tree_can_be_reached_when_the_row_of_before_is_gone", () => withPage(small(), { fragment: "mode=tree" }, async (page) => {
  await page.evaluate(() => [...document.querySelectorAll("table.calltree tbody tr")].find((tr) => tr.querySelector(".name").textContent === "c.D.x").click());
  assert.equal(await page.$eval("tr[tabindex='0'] .name", (e) => e.textContent), "c.D.x");
  await (await page.$$("#panel .buttons button"))[2].click();
  assert.match(await page.$eval("tr[tabindex='0'] .name", (e) => e.textContent), /^all /);
}));

test("hidden_stacks_do_not_count_and_come_back", () => withPage(small(), { fragment: "mode=methods" }, async (page) => {
  await page.evaluate(() => [...document.querySelectorAll("table.methods button.link")].find((b) => b.textContent === "c.D.x").click());
  await (await page.$$("#panel .buttons button"))[2].click();
  assert.deepEqual((await rows(page, "methods")).map((cells) => [cells.at(-1), exactly(cells[1])]), [["c.D.y", 30], ["e.F.z", 10], ["a.B.main", 0], ["a.B.run", 0]]);
  await page.click("#chips button");
  assert.equal((await rows(page, "methods")).length, 5);
}));

test("threads_add_up_and_filter_and_split", () => withPage(path.join(WORK, "mix.html"), { fragment: "mode=threads" }, async (page) => {
  const source = folded(PROGRAM, mix, "samples");
  const threads = Object.fromEntries((await rows(page, "threads")).map(([, value, name]) => [name, exactly(value)]));
  assert.ok(threads["second; <b>"] > 100 && threads.main > 100, JSON.stringify(threads));
  assert.equal(Object.values(threads).reduce((a, b) => a + b, 0), source.all);
  await page.select("#thread", "second; <b>");
  await page.keyboard.press("3");
  assert.equal(exactly((await rows(page, "calltree"))[0][1]), threads["second; <b>"]);
  assert.equal((await state(page)).thread, "second; <b>");
  await page.select("#thread", "");
  await press(page, "split");
  const split = await page.$$eval('table.calltree tr[aria-level="2"]', (trs) => trs.map((tr) => [tr.querySelector(".name").textContent, tr.cells[1].title]));
  for (const [name, value] of split.filter(([name]) => name in threads)) assert.equal(exactly(value), threads[name], name);
  assert.ok(split.some(([name]) => name === "second; <b>"));
}));

test("the_fragment_brings_a_state_back", async () => {
  const file = path.join(WORK, "mix.html");
  let fragment;
  await withPage(file, {}, async (page) => {
    await press(page, "side");
    await page.keyboard.press("2");
    await press(page, "theme");
    await page.type("#search", "Mix.again");
    await page.focus("canvas");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    fragment = await page.evaluate(() => location.hash.slice(1));
    assert.match(fragment, /(^|&)zoom=\d/);
  });
  await withPage(file, { fragment }, async (page) => {
    assert.equal(await page.evaluate(() => location.hash.slice(1)), fragment);
    assert.equal(await page.$$eval("canvas", (all) => all.length), 3);
    assert.equal(await page.$eval("#search", (e) => e.value), "Mix.again");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.equal(await page.$eval('[data-mode="icicle"]', (e) => e.getAttribute("aria-pressed")), "true");
    await page.evaluate(() => (location.hash = "mode=methods"));
    await page.waitForSelector("table.methods");
  });
});

test("a_fragment_of_nonsense_is_the_page_as_it_opens", () => withPage(small(), { fragment: "views=__proto__&mode=constructor&zoom=99999999999&zoom=-1&method=toString&hide=%00&x=%3Cimg%3E&thread=nobody&towards=x&focus=y" }, async (page) => {
  assert.equal(await page.$eval('[data-mode="flame"]', (e) => e.getAttribute("aria-pressed")), "true");
  assert.equal(await page.$$eval("img", (all) => all.length), 0);
  assert.doesNotMatch(await text(page, "#chips"), /Callers of/);
}));

test("the_scheme_is_that_of_the_system_until_the_reader_chooses", () => withPage(small(), { dark: true }, async (page) => {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await press(page, "theme");
  assert.equal(await theme(), "light");
  assert.equal((await state(page)).theme, "light");
}));

test("the_verdict_and_the_facts_stand_on_top", () => withPage(path.join(WORK, "mix.html"), {}, async (page) => {
  assert.match(await text(page, "#verdict"), /samples?: shares are right within .* points\..*Look at Mix\.much/);
  assert.match(await text(page, "#facts"), /^CPU sample every1 msLost0Own CPU time[\d.]+ ms/);
  assert.match(await text(page, "#when"), /^From \d{4}-\d\d-\d\d \S+ to \S+ UTC$/);
  assert.equal(await text(page, "#title"), "Mix");
  const tabs = await page.$$eval("#views b", (all) => all.map((e) => e.textContent));
  assert.deepEqual(tabs.slice(0, 4), ["CPU", "Allocations", "Live", "Monitors"]);
}));

test("nothing_of_the_head_is_said_twice", () => withPage(path.join(WORK, "mix.html"), {}, async (page) => {
  const head = `${await text(page, "header")} ${await text(page, ".pane-head")}`;
  for (const word of [/shares are right within/g, /UTC/g, /Confidence/g]) assert.ok([...head.matchAll(word)].length <= 1, `${word}: ${head}`);
  const samples = (await text(page, "#verdict")).match(/([\d,]+) samples/)[1];
  assert.equal((await page.evaluate(() => document.body.innerText)).split(`${samples} samples`).length - 1, 2, "the verdict and the view");
}));

test("facts_that_no_verdict_has_are_told", () => withPage(hprof("nofacts", [["main", 4000, ["a.B.f(B.java:12)"]]]), {}, async (page) => {
  const head = await text(page, "header");
  assert.equal([...head.matchAll(/4,000/g)].length, 1, head);
}));

for (const [name, file, fragment] of [["a profile", "mix", ""], ["a long verdict", "wordy", ""], ["a long verdict and the panel", "wordy", "method=com.acme.orders.Main.step1&hide=none"], ["wall clock", "states", "views=wall"], ["the panel of a method", "mix", "method=Mix.much"], ["a comparison", "diff", ""], ["times", "rhythm", ""]]) {
  test(`the_graph_is_within_the_first_screen: ${name}`, async () => {
    if (file === "diff") compare(BASE, NEW, "diff");
    if (file === "states") states();
    if (file === "wordy") wordy();
    if (file === "rhythm") rhythm();
    await withPage(path.join(WORK, `${file}.html`), { fragment, height: 720 }, async (page) => {
      const { top, bottom } = await page.$eval("#panes canvas", (canvas) => canvas.getBoundingClientRect().toJSON());
      assert.ok(top < 400 && bottom <= 720, `${top} ${bottom}`);
    });
  });
}

test("a_canvas_is_never_blank: neither_at_first_nor_when_its_size_changes", () => withPage(small(), { before: (p) => p.evaluateOnNewDocument(() => (window.requestAnimationFrame = () => 1)) }, async (page) => {
  const painted = () => page.$eval("canvas", (canvas) => {
    const paper = document.createElement("canvas").getContext("2d");
    paper.drawImage(canvas, 4, canvas.height - 6, 1, 1, 0, 0, 1, 1);
    return paper.getImageData(0, 0, 1, 1).data[3];
  });
  assert.equal(await painted(), 255);
  const wide = await page.$eval("canvas", (canvas) => canvas.width);
  await page.setViewport({ width: 900, height: 700 });
  await page.waitForFunction((before) => document.querySelector("canvas").width !== before, { polling: 20 }, wide);
  assert.equal(await painted(), 255);
}));

// ---- recursion, states, idle threads ----

test("recursion_folds: a_method_that_calls_itself_is_one_frame_with_all_that_its_frames_have", () => withPage(convert("m;r;r;r;a 5\nm;r;r 3\nm;r;a;r 2\nm;r;r;r;a;a 1\n", "fold"), { fragment: "mode=tree" }, async (page) => {
  const all = async () => {
    for (let i = 0; i < 20; i++) if ((await page.$$eval('tr[aria-expanded="false"]', (rows) => rows[0]?.click() ?? 0)) === 0) break;
    return page.$$eval("table.calltree tbody tr", (trs) => trs.map((tr) => `${tr.getAttribute("aria-level")} ${tr.querySelector(".name").textContent} ${tr.cells[1].textContent} ${tr.cells[2].textContent}`));
  };
  assert.ok((await all()).length > 6);
  await page.keyboard.press("f");
  assert.equal((await state(page)).fold, "1");
  assert.deepEqual((await all()).slice(1), ["2 m 11 0", "3 r 11 3", "4 a 8 6", "5 r 2 2"]);
  await press(page, "reverse");
  assert.deepEqual((await all()).slice(1).filter((row) => row.startsWith("2 ")), ["2 a 6 0", "2 r 5 0"]);
  await press(page, "reverse");
  await page.evaluate(() => (location.hash = "mode=tree&fold=1&focus=r&towards=callees"));
  await page.waitForFunction(() => document.querySelector("#chips span"));
  assert.deepEqual((await all()).slice(1), ["2 r 11 3", "3 a 8 6", "4 r 2 2"]);
  await press(page, "fold");
  assert.equal((await state(page)).fold, undefined);
}));

// WALL CLOCK as hprofx writes it: rows of [thread, ms, state, frames from the innermost on].
function wall(name, rows) {
  const file = path.join(WORK, name);
  const threads = [...new Set(rows.map(([thread]) => thread))];
  writeFileSync(`${file}.txt`, ["JAVA PROFILE 1.0.1, created Tue Jan  6 10:00:00 2026", "", "--------", "",
    ...threads.map((thread, i) => `THREAD START (obj=50000100, id = ${200001 + i}, name="${thread}", group="main")`),
    ...rows.flatMap(([thread, , , frames], i) => [`TRACE ${300001 + i}: (thread=${200001 + threads.indexOf(thread)})`, ...frames.map((frame) => `\t${frame}`)]),
    `WALL CLOCK (ms) BEGIN (total = ${rows.reduce((sum, [, n]) => sum + n, 0)}) Tue Jan  6 10:00:01 2026`, "rank   self  accum        ms trace state    method",
    ...rows.map(([, n, what, [frame]], i) => `${String(i + 1).padStart(4)}  1.00%  1.00% ${String(n).padStart(9)} ${300001 + i} ${what.includes(" ") ? `${what};` : what.padEnd(8)} ${frame.split("(")[0]}`), "WALL CLOCK (ms) END", ""].join("\n"));
  execFileSync(PROGRAM, ["convert", `${file}.txt`, `${file}.html`]);
  return `${file}.html`;
}

const states = () => wall("states", [
  ["work", 100, "running", ["a.B.f(B.java:1)", "a.B.main(B.java:2)"]], ["work", 50, "runnable", ["a.B.f(B.java:1)", "a.B.main(B.java:2)"]],
  ["work", 30, "parked a.B$Sync", ["jdk.internal.misc.Unsafe.park(Unsafe.java:1)", "a.B.lock(B.java:7)", "a.B.main(B.java:2)"]], ["work", 20, "sleeping", ["java.lang.Thread.sleep(Thread.java:1)", "a.B.main(B.java:2)"]],
  ["pool", 700, "parked a.Queue", ["jdk.internal.misc.Unsafe.park(Unsafe.java:1)", "java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)", "java.lang.Thread.run(Thread.java:1)"]],
  ["timer", 600, "waiting java.util.TaskQueue", ["java.lang.Object.wait(Object.java:1)", "java.util.TimerThread.mainLoop(Timer.java:1)"]],
  ["timer", 5, "waiting a.Answer", ["java.lang.Object.wait(Object.java:1)", "a.Task.run(Task.java:1)", "java.util.TimerThread.mainLoop(Timer.java:1)"]],
  ["accept", 400, "io", ["sun.nio.ch.Net.accept(Net.java:1)", "java.net.ServerSocket.accept(S.java:1)"]], ["client", 40, "io", ["sun.nio.ch.Net.read(Net.java:1)", "a.B.ask(B.java:1)"]],
  ["pool", 3, "running", ["java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)"]]]);

test("states_have_a_legend_of_their_own", () => withPage(states(), { fragment: "views=wall" }, async (page) => {
  const legend = await page.$$eval(".legend > span", (all) => all.map((e) => [e.textContent, e.querySelector(".swatch").style.getPropertyValue("--colour")]));
  const told = Object.fromEntries(legend.map(([entry]) => entry.match(/^(.*?)(?: ([\d.]+ %))?$/).slice(1)));
  const all = 1948;
  for (const [name, ms] of [["running", 103], ["runnable", 50], ["parked", 730], ["sleeping", 20], ["waiting", 605], ["io", 440]]) assert.ok(Math.abs(Number.parseFloat(told[name]) - (100 * ms) / all) < 0.06, `${name} ${told[name]}`);
  assert.equal(new Set(legend.map(([, colour]) => colour)).size, legend.length, "two of one colour");
  assert.ok(Object.hasOwn(told, "the JDK") && told["the JDK"] === undefined);
}));

test("idle_threads_hide_and_come_back", () => withPage(states(), { fragment: "views=wall&mode=threads" }, async (page) => {
  const threads = async () => Object.fromEntries((await rows(page, "threads")).map(([, value, name]) => [name, exactly(value) / 1e6]));
  const before = await threads();
  assert.deepEqual(before, { work: 200, pool: 703, timer: 605, accept: 400, client: 40 });
  await press(page, "busy");
  assert.deepEqual(await threads(), { work: 200, client: 40, timer: 5, pool: 3 });
  await page.keyboard.press("3");
  assert.match((await rows(page, "calltree"))[0].join(" "), /248,000,000 ns/);
  await page.keyboard.press("i");
  assert.equal((await state(page)).busy, undefined);
  await page.keyboard.press("5");
  assert.deepEqual(await threads(), before);
}));

test("where_nothing_is_idle_there_is_no_switch", () => withPage(small(), {}, async (page) => assert.equal(await page.$eval("#busy", (e) => e.hidden), true)));

// ---- copy, save ----

for (const clipboard of [true, false]) {
  test(`a_name_is_copied_by_button_and_by_key${clipboard ? "" : ", also where files cannot write to the clipboard"}`, () => withPage(convert(`${HOSTILE[0]};${HOSTILE[1]} 1\n`, "copy"), { fragment: `method=${encodeURIComponent(HOSTILE[1])}`, before: (p) => p.evaluateOnNewDocument((works) => {
    window.copied = [];
    Object.defineProperty(navigator, "clipboard", { value: works ? { writeText: async (name) => window.copied.push(name) } : undefined });
    document.addEventListener("copy", (event) => window.copied.push(event.target.value));
  }, clipboard) }, async (page) => {
    await page.evaluate(() => [...document.querySelectorAll("#panel .buttons button")].find((b) => b.textContent === "Copy name").click());
    await page.focus("canvas");
    for (const key of ["ArrowUp", "c"]) await page.keyboard.press(key);
    await page.keyboard.press("3");
    await page.focus("tr[tabindex='0']");
    for (const key of ["ArrowDown", "ArrowDown", "c"]) await page.keyboard.press(key);
    await page.waitForFunction(() => window.copied.length === 3, { polling: 20 });
    assert.deepEqual(await page.evaluate(() => window.copied), [HOSTILE[1], HOSTILE[0], HOSTILE[1]]);
    assert.equal(await say(page), `Copied: ${HOSTILE[1]}`);
    assert.equal(await text(page, "#done"), `Copied: ${HOSTILE[1]}`);
    assert.equal(await page.$$eval("img, textarea", (all) => all.length), 0);
  }));
}

test("the_graph_is_saved_as_svg_with_every_name_escaped", async () => {
  let svg;
  await withPage(convert(`${HOSTILE.map((name) => `${name} 100`).join("\n")}\nm\uffff\ufffe;deep 300\n`, "svg"), { before: (p) => p.evaluateOnNewDocument(() => {
    const { createObjectURL } = URL;
    URL.createObjectURL = (blob) => {
      window.saved = blob.text();
      return createObjectURL(blob);
    };
    HTMLAnchorElement.prototype.click = function () {
      window.named = this.download;
    };
  }) }, async (page) => {
    await page.keyboard.press("v");
    svg = await page.evaluate(() => window.saved);
    assert.match(await page.evaluate(() => window.named), /^[\w.-]+\.svg$/);
    await page.evaluate(() => document.querySelector(".pane-head button").click());
    assert.equal(await page.evaluate(() => window.saved), svg);
  });
  const file = path.join(WORK, "saved.svg");
  writeFileSync(file, svg);
  writeFileSync(path.join(SHOTS, "saved.svg"), svg);
  const page = await browser.newPage(); // which refuses what is not XML
  await page.goto(`file://${file}`);
  const seen = await page.evaluate(() => [[...new Set([...document.querySelectorAll("*")].map((e) => e.localName))].sort(), [...document.querySelectorAll("title")].map((e) => e.textContent.split("\n")[0])]);
  await page.close();
  assert.deepEqual(seen[0], ["g", "rect", "svg", "text", "title"]);
  const shown = HOSTILE.map((name) => name.replace("\u202E", "\\u202e").replace("\u2066", "\\u2066"));
  for (const name of [...shown, "m\ufffd\ufffd", "deep"]) assert.ok(seen[1].includes(name), name);
});

// ---- a comparison ----


test("a_comparison_tells_what_grew_and_what_shrank", () => withPage(compare(BASE, NEW, "diff"), { fragment: "mode=methods" }, async (page) => {
  const changes = async () => Object.fromEntries((await rows(page, "methods")).map((cells) => [cells.at(-1), cells[0]]));
  assert.deepEqual(await changes(), { gone: "▼ −20.00", b: "▲ +10.00", fresh: "▲ +10.00", a: " ±0.00", m: " ±0.00" });
  await press(page, "absolute");
  assert.deepEqual(await changes(), { gone: "▼ −200", b: "▲ +500", fresh: "▲ +200", a: "▲ +500", m: " ±0" });
  assert.match(await text(page, "#title"), /before and after/);
  await page.evaluate(() => [...document.querySelectorAll("table.methods button.link")].find((b) => b.textContent === "gone").click());
  assert.match(await text(page, 'table[aria-label="Callers"] tbody'), /▼ −2000 %m/);
}));

test("a_comparison_sorts_by_the_column_that_was_asked_for", () => withPage(compare(BASE, NEW, "diff"), { fragment: "mode=methods" }, async (page) => {
  await page.evaluate(() => [...document.querySelectorAll("table.methods th button")].find((b) => b.firstChild.data === "Self after").click());
  assert.deepEqual((await rows(page, "methods")).map((cells) => cells.at(-1)), ["a", "b", "fresh", "m", "gone"]);
}));

test("both_sides_of_a_comparison_are_of_the_same_stacks", () => withPage(compare(BASE, NEW, "diff"), { fragment: "focus=b&towards=callers" }, async (page) => {
  assert.match(await text(page, ".pane-head .state"), /^800 .*, before 300$/);
}));

test("a_frame_that_is_gone_can_be_seen_in_a_comparison", () => withPage(compare(BASE, NEW, "diff"), {}, async (page) => {
  await page.focus("canvas");
  for (const key of ["ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
  const seen = [];
  for (const key of ["Home", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]) {
    await page.keyboard.press(key);
    seen.push(await say(page));
  }
  assert.ok(seen.some((line) => /^gone, 0 % of .*−20\.00 points since before: 20\.0 %, 200/.test(line)), seen.join("\n"));
  await page.screenshot({ path: path.join(SHOTS, "diffgraph.png") });
}));

// Rows of a table that the terminal shows: name -> [before, after, change, interval].
function tables(said, figure) {
  const found = new Map();
  const part = said.split(`\n${figure}: `)[1]?.split("\n\n")[0] ?? "";
  for (const line of part.split("\n")) {
    const row = /^ +(\S+ %|[\d,]+) +(\S+ %|[\d,]+) +(\S+(?: %)?) +(?:((?:above )?\S+(?: to \S+)? %|new)  )?(\S+)$/.exec(line);
    if (row) found.set(row[5], row.slice(1, 5).map((cell) => cell ?? ""));
  }
  return found;
}

const NOISY = { before: "m;a 500\nm;b 300\nm;b;deep 40\nm;few 3\nm;gone 200\n", after: "m;a 1010\nm;b 790\nm;b;deep 85\nm;few 9\nm;fresh 200\n" };

for (const [name, before, after, ...options] of [
  ["shares", NOISY.before, NOISY.after, "--fail-if", "b +5%", "--fail-if", "a +900%", "--fail-if", "few +1%"], ["amounts", NOISY.before, NOISY.after, "--absolute", "--fail-if", "total +5%"],
  ["several runs", [NOISY.before, "m;a 520\nm;b 310\nm;gone 190\n", "m;a 490\nm;b 320\nm;gone 205\n"], [NOISY.after, "m;a 1990\nm;b 1650\nm;fresh 420\n"], "--fail-if", "* +2pt"]]) {
  test(`a_comparison_says_what_the_terminal_says: ${name}`, () => withPage(compare(before, after, "said", ...options), { fragment: "mode=methods" }, async (page) => {
    const said = told.get(path.join(WORK, "said.html"));
    const shown = (await page.$eval("#verdict", (e) => e.textContent)).replace(/\s+/g, " ");
    for (const line of said.split("\n").filter((text) => /^(Before: |Shares of |Amounts of |\S.*: (fails|passes|too few|the runs|none: )|.*(fails|passes) [+-]|\*: of )/.test(text))) assert.ok(shown.includes(line.trim().replace(/\s+/g, " ")), `${line}\n${shown}`);
    const seen = new Map((await page.$$eval("table.methods tbody tr", (trs) => trs.map((tr) => [tr.className, ...[...tr.cells].map((cell) => cell.textContent.replaceAll("−", "-"))]))).map(([chance, ...cells]) => [cells.at(-1), { chance, self: cells.slice(1, 5), total: cells.slice(6, 10) }]));
    const self = tables(said, "Self");
    const total = tables(said, "Total");
    assert.ok(self.size + total.size >= 3, said);
    for (const [figure, found] of [["self", self], ["total", total]]) for (const [method, cells] of found) assert.deepEqual(seen.get(method)?.[figure], cells, `${method} ${figure}`);
    assert.deepEqual([...seen.keys()].slice(0, self.size), [...self.keys()], "what is beyond chance comes first");
    for (const [method, { chance }] of seen) assert.equal(chance, self.has(method) || total.has(method) ? "" : "chance", method);
  }));
}

test("the_numbers_of_samples_of_a_comparison_are_those_of_the_files", async () => {
  const traces = (n) => [["main", n, ["a.B.f(B.java:12)", "a.B.main(B.java:3)"]], ["main", 100, ["a.B.g(B.java:20)", "a.B.main(B.java:3)"]]];
  const sides = ["weighed0", "weighed1"].map((name, i) => {
    hprof(name, traces(47 + 2 * i));
    const file = path.join(WORK, `${name}.txt`);
    writeFileSync(file, `${readFileSync(file, "utf-8")}hprofx: samples: ${147 + 2 * i} (one per 10 ms of CPU time of a Java thread)\nhprofx: effective samples: ${121 + 15 * i}\nhprofx: lost: 0\n`);
    return file;
  });
  const html = path.join(WORK, "weighed.html");
  const said = execFileSync(PROGRAM, ["diff", "-o", html, ...sides], { encoding: "utf-8" });
  assert.match(said, /^Before: \S+, 147 samples \(121 effective\)\. After: \S+, 149 samples \(136 effective\)\.\n/);
  await withPage(html, {}, async (page) => {
    assert.ok((await text(page, "#verdict")).startsWith(said.split("\n")[0]), await text(page, "#verdict"));
    assert.match(await text(page, ".pane-head .state"), /^149 samples, before 147$/);
    assert.doesNotMatch(await text(page, "#facts"), /1[234]\d/);
  });
});

test("of_a_part_of_the_stacks_nothing_is_told_from_chance", () => withPage(compare(NOISY.before, NOISY.after, "part"), { fragment: "mode=methods&hide=gone" }, async (page) => {
  assert.equal(await page.$$eval("tr.chance", (all) => all.length), 0);
  assert.match(await text(page, "#verdict"), /does not tell changes from chance/);
  await page.click("#chips button");
  assert.ok((await page.$$eval("tr.chance", (all) => all.length)) > 0);
}));

test("a_comparison_opens_with_the_amounts_that_were_asked_for", () => withPage(compare(NOISY.before, NOISY.after, "amounts", "--absolute"), {}, async (page) => {
  assert.equal(await page.$eval("#absolute", (e) => e.getAttribute("aria-pressed")), "true");
  assert.match(await text(page, "#verdict"), /Amounts of /);
  await press(page, "absolute");
  assert.match(await text(page, "#verdict"), /Shares of /);
  assert.equal((await state(page)).absolute, "false");
}));

test("hostile_names_of_a_comparison_stay_names", () => {
  const all = HOSTILE.map((name, i) => `m;${name} ${100 + i}`).join("\n");
  return withPage(compare(`${all}\n`, `${all.replace(/ 1(\d\d)$/gm, " 9$1")}\nm;more 5000\n`, "hostile <img src=x>", "--fail-if", "*onerror* +1%", "--fail-if", "<b>x</b> +1%"), { fragment: "mode=methods" }, async (page) => {
    assert.equal(await page.$$eval("img, b:not(#views b), script[src]", (found) => found.length), 0);
    assert.match(await text(page, "#verdict"), /<b>x<\/b>: no method/);
    assert.match(await text(page, "#verdict"), /hostile <img src=x>/);
    const names = (await rows(page, "methods")).map((cells) => cells.at(-1));
    for (const name of HOSTILE) assert.ok(names.includes(name.replace("\u202E", "\\u202e").replace("\u2066", "\\u2066")), name);
    assert.equal(await page.$$eval("tr:not(.chance)", (found) => found.length) > 2, true);
  });
});

// ---- times ----

addTests(test, { withPage, small, text, say, state, rows, press, tables, hprof });

// ---- hostile names, the policy ----


for (const mode of ["flame", "icicle", "tree", "methods", "threads"]) {
  test(`every_name_stays_a_name: ${mode}`, () => withPage(convert(`${HOSTILE.map((name) => `${name};${HOSTILE.join(";")} 1`).join("\n")}\n`, "hostile"), { fragment: `mode=${mode}&method=${encodeURIComponent(HOSTILE[0])}&hide=${encodeURIComponent("<b>")}&query=${encodeURIComponent("<img")}&focus=${encodeURIComponent(HOSTILE[2])}` }, async (page) => {
    assert.equal(await page.$$eval("img, b:not(#views b), script[src]", (all) => all.length), 0);
    assert.equal(await text(page, "#method-name"), HOSTILE[0]);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    if (mode !== "methods") return;
    await page.$eval("#search", (e) => (e.value = ""));
    await page.evaluate(() => (location.hash = "mode=methods"));
    await page.waitForFunction(() => document.querySelectorAll("table.methods tbody tr").length > 5);
    const names = (await rows(page, "methods")).map((cells) => cells.at(-1)).sort();
    assert.deepEqual(names, HOSTILE.map((name) => name.replace("\u202E", "\\u202e").replace("\u2066", "\\u2066")).sort());
  }));
}

test("the_policy_forbids_what_the_page_does_not_need", () => withPage(small(), {}, async (page) => {
  const outcome = await page.evaluate(async () => {
    const tried = {};
    const violated = new Promise((done) => document.addEventListener("securitypolicyviolation", (event) => event.effectiveDirective === "connect-src" && done("refused")));
    const attempt = async (name, run) => (tried[name] = await Promise.resolve().then(run).then((v) => String(v), () => "refused"));
    await attempt("fetch", () => fetch("https://example.com/").catch(() => violated)); // without a network it fails in any case
    await attempt("markup", () => (document.createElement("div").innerHTML = "<b>"));
    await attempt("script", () => {
      const script = document.createElement("script");
      script.append("window.ran = 1");
      document.body.append(script);
      return window.ran;
    });
    return tried;
  });
  assert.doesNotMatch(await page.$eval("meta[http-equiv]", (e) => e.content), /unsafe|https?:|data:|\*/);
  assert.deepEqual(Object.keys(outcome).filter((name) => !["refused", "undefined"].includes(outcome[name])), []);
  page.trouble = page.trouble.filter((line) => !/Content Security Policy|Trusted|https:\/\/example/.test(line));
}));

test("a_page_that_was_cut_says_so", async () => {
  const whole = readFileSync(small(), "utf-8");
  const file = path.join(WORK, "cut.html");
  const at = whole.indexOf('type="text/plain">') + 60;
  writeFileSync(file, whole.slice(0, at) + whole.slice(whole.indexOf("</script>", at)));
  const page = await browser.newPage();
  await page.goto(`file://${file}`);
  await page.waitForSelector("#notice:not([hidden])");
  assert.match(await text(page, "#notice"), /^The profile cannot be shown: /);
  await page.close();
});

// ---- a screen reader ----

for (const dark of [false, true]) {
  for (const [name, file, fragment] of [
    ["flame", "mix", ""], ["icicle", "mix", "mode=icicle&method=Mix.much"], ["tree", "mix", "mode=tree&method=Mix.much"], ["methods", "mix", "mode=methods"],
    ["threads", "mix", "mode=threads"], ["side", "mix", "views=samples&views=alloc_space&query=much&mode=methods"], ["chips", "mix", "focus=Mix.work&towards=callers&hide=Mix.little&thread=main&zoom=1"],
    ["help", "mix", ""], ["diff", "diff", "mode=methods&method=gone"], ["difftree", "diff", "mode=tree"],
    ["times", "rhythm", "sub=1&lanes=1&from=10000&to=12000"], ["parts", "rhythm", "mode=methods&from=10000&to=12000&base=0-5000"], ["hostile", "hostile", "mode=tree"]]) {
    test(`axe_finds_nothing: ${name}${dark ? ", dark" : ""}`, async () => {
      if (file === "diff") compare(BASE, NEW, "diff");
      if (file === "rhythm") rhythm();
      if (file === "hostile") convert(`${HOSTILE.join(";")} 1\n`, "hostile");
      const page = await open(browser, path.join(WORK, `${file}.html`), { fragment, dark, before: (p) => p.setBypassCSP(true) });
      if (name === "help") await page.keyboard.press("?");
      await page.evaluate(() => new Promise(requestAnimationFrame));
      await page.screenshot({ path: path.join(SHOTS, `${name}${dark ? "-dark" : ""}.png`) });
      await page.evaluate(readFileSync(AXE, "utf-8"));
      const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      await page.close();
      assert.deepEqual(violations.map((v) => [v.id, v.help, v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 200)} ${n.failureSummary}`)]), []);
    });
  }
}

// ----

execFileSync(PROGRAM, ["convert", mix, path.join(WORK, "mix.html")]);
browser = await launch();
let failed = 0;
const chosen = tests.filter(({ name }) => name.includes(PATTERN ?? ""));
for (const { name, run } of chosen) {
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n${String(error.stack ?? error).replace(/^/gm, "      ")}`);
  }
}
await browser.close();
console.log(`${chosen.length - failed} passed, ${failed} failed, 0 skipped`);
process.exit(failed > 0 || chosen.length === 0 ? 1 : 0);
