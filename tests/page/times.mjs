// SPDX-License-Identifier: BSD-2-Clause
// times.mjs: tests of the time line of the page: of files made for the test, and of a program that tells what it did when (tests/jvm/programs/Rhythm.java).
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { folded } from "./browse.mjs";
import { methodsOf, pausesOf, samplesOf, scripts, unpacked } from "./scripts.mjs";

const { PROGRAM, WORK } = process.env;
const NEAR = 20; // ms

// What a column has in a part of the run.
async function inPart(file, name, from, to) {
  const profile = new scripts.Profile([await unpacked(file)], null);
  profile.setFilter("", [], false);
  profile.setParts([{ from, to, rest: false }]);
  return profile.sum(profile.column(name), profile.shape(scripts.PLAIN)).total[0];
}

const THREADS = 2; // of one name
// Waits of wall=: events [end in ms, unit, thread, ns].
function waits(name, events, end = 60000) {
  const file = path.join(WORK, name);
  const total = Math.round(events.reduce((sum, event) => sum + event[3], 0) / 1e6);
  writeFileSync(`${file}.txt`, ["JAVA PROFILE 1.0.1, created Tue Jan  6 10:00:00 2026", "", "--------", "",
    ...Array.from({ length: THREADS }, (_, i) => `THREAD START (obj=50000100, id = ${200001 + i}, name="worker", group="main")`),
    "TRACE 300001:", "\ta.B.idle(B.java:1)", "\ta.B.main(B.java:3)", `WALL CLOCK (ms) BEGIN (total = ${total}) Tue Jan  6 10:00:01 2026`, "rank   self  accum        ms trace state    method",
    `   1 100.00% 100.00% ${String(total).padStart(8)} 300001 sleeping a.B.idle`, "WALL CLOCK (ms) END",
    `TIMELINE BEGIN (zero = 1767693600000, end = ${end}, places = 1, events = ${events.length}, coarse = 0)`, "p wall 300001 sleeping",
    ...events.map(([ms, unit, thread, ns]) => `t @${ms}${unit > 1 ? ` ~${unit}` : ""} #${200001 + thread} 0*1/${ns}`), "TIMELINE END", "hprofx: tables: 1 KiB", ""].join("\n"));
  execFileSync(PROGRAM, ["convert", `${file}.txt`, `${file}.html`]);
  return `${file}.html`;
}

// A profile with times: samples [ms, thread, method, unit], one each; pauses [end in ms, ns]; alike: tables have no threads, as without thread=y.
export function timed(name, samples, { pauses = [], end = 20000, alike = false } = {}) {
  const file = path.join(WORK, name);
  const threads = [...new Set(samples.map(([, thread]) => thread))];
  const keyOf = (of, method) => `${alike ? "" : of} ${method}`;
  const keys = [...new Set(samples.map(([, of, method]) => keyOf(of, method)))];
  const counts = new Map(keys.map((key) => [key, 0]));
  samples.forEach(([, of, method]) => counts.set(keyOf(of, method), counts.get(keyOf(of, method)) + 1));
  const thread = (key) => 200001 + threads.indexOf(key.split(" ")[0]);
  const events = [
    ...samples.map(([ms, name, method, unit = 1]) => [ms, unit, `#${200001 + threads.indexOf(name)} ${keys.indexOf(keyOf(name, method))}`]),
    ...pauses.map(([ms, ns]) => [ms, 1, `#0 ${keys.length}*1/${ns}`]),
  ].sort((a, b) => a[0] - b[0]);
  writeFileSync(`${file}.txt`, ["JAVA PROFILE 1.0.1, created Tue Jan  6 10:00:00 2026", "", "--------", "",
    ...threads.map((name, i) => `THREAD START (obj=50000100, id = ${200001 + i}, name="${name}", group="main")`),
    ...keys.flatMap((key, i) => [`TRACE ${300001 + i}:${alike ? "" : ` (thread=${thread(key)})`}`, `\t${key.split(" ")[1]}(B.java:1)`, "\ta.B.main(B.java:3)"]),
    `CPU SAMPLES BEGIN (total = ${samples.length}) Tue Jan  6 10:00:01 2026`, "rank   self  accum   count trace method",
    ...keys.map((key, i) => `${String(i + 1).padStart(4)}  1.00%  1.00% ${String(counts.get(key)).padStart(7)} ${300001 + i} ${key.split(" ")[1]}`), "CPU SAMPLES END",
    `TIMELINE BEGIN (zero = 1767693600000, end = ${end}, places = ${keys.length + (pauses.length > 0 ? 1 : 0)}, events = ${events.length}, coarse = 0)`,
    ...keys.map((_, i) => `p cpu ${300001 + i}`), ...(pauses.length > 0 ? ["p gc 0"] : []),
    ...events.map(([ms, unit, event]) => `t @${ms}${unit > 1 ? ` ~${unit}` : ""} ${event}`), "TIMELINE END",
    `hprofx: samples: ${samples.length} (one per 10 ms of CPU time of a Java thread)`, `hprofx: effective samples: ${samples.length}`, ""].join("\n"));
  execFileSync(PROGRAM, ["convert", `${file}.txt`, `${file}.html`]);
  return `${file}.html`;
}

// From ms on, one each step.
const steps = (from, n, thread, method, step = 10) => Array.from({ length: n }, (_, i) => [from + step * i, thread, method]);

// Busy 200 ms each second; "other" from 10 to 12 s; a pause each 5 s.
export const rhythm = () => timed("rhythm", [...Array.from({ length: 20 }, (_, s) => steps(1000 * s + 300, 20, "worker-1", "a.B.steady")).flat(), ...steps(10000, 200, "worker-2", "a.B.burst")],
  { pauses: [5000, 10000, 15000].map((ms) => [ms, 40e6]) });

export function addTests(test, { withPage, small, text, say, state, rows, press, tables, hprof }) {
  const methods = async (page) => Object.fromEntries((await rows(page, "methods")).map((cells) => [cells.at(-1), Number(cells.at(-4).split(" ")[0])]));
  // Presses at a part of the canvas, and lets go at another.
  const drag = async (page, id, [x, y], [toX, toY]) => {
    const box = await page.$eval(`#${id}`, (e) => e.getBoundingClientRect().toJSON());
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + toX * box.width, box.y + toY * box.height, { steps: 4 });
    await page.mouse.up();
  };

  test("a_page_without_times_has_no_time_line", () => withPage(small(), {}, async (page) => {
    assert.equal(await page.$("#times"), null);
    await page.keyboard.press("t");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  }));

  test("a_fragment_with_times_is_nothing_to_a_page_without", () => withPage(small(), { fragment: "from=1000&to=2000&base=rest&sub=1&lanes=1" }, async (page) => {
    assert.equal(await text(page, "#chips"), "");
  }));

  test("what_is_selected_on_the_time_line_is_what_everything_is_of", () => withPage(rhythm(), { fragment: "mode=methods" }, async (page) => {
    assert.deepEqual(await methods(page), { "a.B.steady": 400, "a.B.burst": 200, "a.B.main": 0 });
    await drag(page, "strip", [0.5, 0.5], [0.6, 0.5]);
    const { from, to } = await state(page);
    assert.ok(Math.abs(from - 10000) <= 30 && Math.abs(to - 12000) <= 30, `${from} ${to}`);
    await page.evaluate(() => (location.hash = "mode=methods&from=10000&to=12000"));
    await page.waitForFunction(() => document.querySelector("table.methods tbody tr").cells[2].title.startsWith("200 "));
    assert.deepEqual(await methods(page), { "a.B.burst": 200, "a.B.steady": 40, "a.B.main": 0 });
    assert.match(await text(page, "#views"), /^CPU240 of 600 samples$/);
    assert.match(await text(page, "#verdict"), /10 s to 12 s .*: 1\.20 CPUs on the average, 240 samples\..*The rest: 0\.20 CPUs on the average, 360 samples\..*2 of 3 methods differ beyond chance: a\.B\.steady 100 % → 16\.7 %, a\.B\.burst 0 % → 83\.3 %/);
    await page.keyboard.press("5");
    assert.deepEqual((await rows(page, "threads")).map((cells) => [cells[2], cells[1].split(" ")[0]]), [["worker-2", "200"], ["worker-1", "40"]]);
    await page.evaluate(() => [...document.querySelectorAll("#chips button")].find((b) => b.textContent === "All the time").click());
    assert.deepEqual((await rows(page, "threads")).map((cells) => cells[1].split(" ")[0]), ["400", "200"]);
    assert.equal((await state(page)).to, undefined);
  }));

  test("keys_select_and_zoom_and_say_what_was_when", () => withPage(rhythm(), { fragment: "mode=methods" }, async (page) => {
    await page.keyboard.press("t");
    await page.keyboard.press("Home");
    assert.match(await say(page), /^0 s to .*from \d\d:\d\d:\d\d on/);
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    assert.match(await say(page), /^0\.3 s to 0\.4 s, .* on\. 1 CPU$/);
    await page.keyboard.down("Shift");
    await page.keyboard.press("PageDown");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.up("Shift");
    assert.deepEqual([(await state(page)).from, (await state(page)).to], ["300", "1200"]);
    assert.match(await say(page), /^Selected: 0\.3 s to 1\.2 s$/);
    await page.keyboard.press("Enter");
    assert.equal((await state(page)).near, "300-1200");
    for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
    assert.deepEqual([(await state(page)).to, (await state(page)).near], [undefined, undefined]);
  }));

  test("a_part_can_be_typed_and_nonsense_is_not_taken", () => withPage(rhythm(), { fragment: "mode=methods" }, async (page) => {
    const type = async (id, value) => {
      await page.$eval(`#${id}`, (e, v) => {
        e.value = v;
        e.dispatchEvent(new Event("change"));
      }, value);
    };
    await type("from", "0:10");
    assert.deepEqual([(await state(page)).from, (await state(page)).to], ["10000", "20000"]);
    await type("to", "12");
    assert.deepEqual(await methods(page), { "a.B.burst": 200, "a.B.steady": 40, "a.B.main": 0 });
    await type("to", "x");
    assert.equal(await page.$eval("#to", (e) => e.getAttribute("aria-invalid")), "true");
    assert.equal((await state(page)).to, "12000");
  }));

  test("a_rhythm_is_a_pattern_of_the_heat_map", () => withPage(rhythm(), { fragment: "sub=1" }, async (page) => {
    const rowsOf = (...seconds) => page.$eval("#heat", (canvas, asked) => {
      const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const colour = (second, row) => {
        const at = 4 * (width * Math.floor((height * (row + 0.5)) / 50) + Math.floor((width * (second + 0.6)) / 20));
        return data.slice(at, at + 3).join();
      };
      return asked.map((second) => Array.from({ length: 50 }, (_, row) => (colour(second, row) === colour(0, 45) ? "." : "#")).join(""));
    }, seconds);
    const [first, burst, last] = await rowsOf(0, 10, 19);
    for (const second of [first, last]) assert.equal(second, ".".repeat(15) + "#".repeat(10) + ".".repeat(25));
    assert.equal(burst, "#".repeat(50));
    await drag(page, "heat", [0.63, 0.301], [0.63, 0.499]); // 300 to 500 ms of second 12
    assert.deepEqual([(await state(page)).from, (await state(page)).to], ["12300", "12500"]);
    assert.match(await text(page, ".pane-head .state"), /^20 samples$/);
  }));

  test("pauses_are_told", () => withPage(rhythm(), {}, async (page) => {
    assert.match(await text(page, "#time-legend"), /3 pauses of the collector, 120 ms/);
    const box = await page.$eval("#strip", (e) => e.getBoundingClientRect().toJSON());
    await page.mouse.move(box.x + box.width * (4.98 / 20), box.y + 20);
    assert.match(await text(page, "#tip"), /Pause of the collector: 40 ms from 4\.96 s on/);
  }));

  test("lanes_are_of_threads_and_choose_one", () => withPage(rhythm(), { fragment: "lanes=1&mode=methods" }, async (page) => {
    assert.deepEqual(await page.$$eval("#lane-names button", (all) => all.map((e) => e.textContent)), ["worker-1", "worker-2"]);
    assert.equal(await text(page, "#lane-legend"), "running");
    await page.$eval("#lane-names button:last-child", (e) => e.click());
    assert.equal((await state(page)).thread, "worker-2");
    assert.equal((await methods(page))["a.B.burst"], 200);
  }));

  test("the_strip_is_of_the_view_that_is_shown_and_of_what_is_searched", () => withPage(rhythm(), { fragment: "query=burst" }, async (page) => {
    assert.equal(await text(page, "#time-title"), "CPU by time");
    assert.match(await text(page, "#time-legend"), /^stacks that matchothers/);
    await page.evaluate(() => (location.hash = "by=code"));
    await page.waitForFunction(() => !document.querySelector("#time-legend").textContent.includes("match"));
    assert.match(await text(page, "#time-legend"), /^a3 pauses/);
  }));

  // Two parts, and two files that have what is in them: what is beyond chance is the same.
  test("parts_are_compared_as_diff_compares_files", async () => {
    const before = { "a.B.same": 400, "a.B.more": 30, "a.B.few": 4, "a.B.gone": 25, "a.B.large": 700, "a.B.noise": 61 };
    const after = { "a.B.same": 380, "a.B.more": 75, "a.B.few": 7, "a.B.fresh": 22, "a.B.large": 560, "a.B.noise": 72 };
    const side = (counts, from) => Object.entries(counts).flatMap(([method, n]) => Array.from({ length: n }, (_, i) => [from + 10 * Math.floor((i * 400) / n), "main", method]));
    const file = timed("parts", [...side(before, 0), ...side(after, 5000)], { end: 10000 });
    const files = [before, after].map((counts, i) => {
      const page = hprof(`side${i}`, Object.entries(counts).map(([method, n]) => ["main", n, [`${method}(B.java:1)`, "a.B.main(B.java:3)"]]), [`samples: ${Object.values(counts).reduce((a, b) => a + b)} (one per 10 ms of CPU time of a Java thread)`, `effective samples: ${Object.values(counts).reduce((a, b) => a + b)}`]);
      return page.replace(".html", ".txt");
    });
    const said = spawnSync(PROGRAM, ["diff", ...files], { encoding: "utf-8" }).stdout;
    const sure = [...new Set([...tables(said, "Self").keys(), ...tables(said, "Total").keys()])].sort();
    assert.ok(sure.length >= 4 && sure.length < 7, said);
    await withPage(file, { fragment: "mode=methods&base=0-5000&from=5000&to=10000" }, async (page) => {
      const seen = await page.$$eval("table.methods tbody tr:not(.chance)", (trs) => trs.map((tr) => tr.querySelector(".frame").textContent).sort());
      assert.deepEqual(seen, sure);
      assert.match(await text(page, "#verdict"), new RegExp(`${sure.length} of \\d+ methods differ beyond chance`));
      assert.match(await text(page, "#chips"), /^Before:0 s to 5 sNo comparisonAfter:5 s to 10 s/);
      assert.equal(await page.$eval("#absolute", (e) => e.hidden), true);
      for (const mode of ["1", "3"]) {
        await page.keyboard.press(mode);
        assert.match(await text(page, ".pane-head .state"), /before/);
      }
      await page.$eval("#chips button", (e) => e.click());
      assert.equal((await state(page)).base, undefined);
    });
  });

  test("the_other_part_of_a_comparison_is_chosen_after_the_first", () => withPage(rhythm(), { fragment: "mode=methods&from=0&to=5000" }, async (page) => {
    const button = (name) => page.evaluate((text) => [...document.querySelectorAll("#chips button")].find((b) => b.textContent === text).click(), name);
    await button("Compare with another part");
    assert.equal((await state(page)).base, "0-5000");
    assert.match(await text(page, "#chips"), /Select the part to compare with it/);
    await drag(page, "strip", [0.5, 0.5], [0.6, 0.5]);
    assert.match(await text(page, "#chips"), /Before:0 s to 5 s.*After:(10|9\.9\d) s to 1[12]/);
    await button("No comparison");
    await button("Compare with the rest");
    assert.match(await text(page, "#verdict"), /The rest/);
  }));

  test("coarse_times_are_told_and_are_spread", () => withPage(timed("coarse", [[1000, "main", "a.B.old", 1000], [3000, "main", "a.B.new"]], { end: 4000 }), { fragment: "mode=methods&from=0&to=3000" }, async (page) => {
    assert.equal(await text(page, "#time-note"), "Times here are in steps of 0.01 s, of older parts in steps of 1 s.");
    assert.deepEqual(await methods(page), { "a.B.old": 1, "a.B.main": 0 });
    assert.equal(await page.$eval("#time-note", (e) => e.hidden), false);
  }));

  test("a_nonsense_of_parts_is_the_whole_run", () => withPage(rhythm(), { fragment: "from=5000&to=10&base=7-x&near=9-1&by=constructor&mode=methods" }, async (page) => {
    assert.equal((await methods(page))["a.B.steady"], 400);
  }));

  // ---- figures ----

  test("threads_have_what_their_moments_tell_where_the_tables_have_no_threads", () => withPage(timed("alike", [...steps(0, 60, "one", "a.B.x"), ...steps(0, 40, "two", "a.B.x")], { end: 3000, alike: true }), { fragment: "mode=threads" }, async (page) => {
    const threads = async () => (await rows(page, "threads")).map((cells) => [cells[2], cells[1].split(" ")[0]]);
    assert.deepEqual(await threads(), [["one", "60"], ["two", "40"]]);
    await page.evaluate(() => (location.hash = "thread=two&mode=methods"));
    await page.waitForFunction(() => document.querySelector("table.methods tbody tr")?.cells[2].title.startsWith("40 "));
    await page.evaluate(() => (location.hash = "thread=two&mode=methods&from=0&to=200"));
    await page.waitForFunction(() => document.querySelector("table.methods tbody tr")?.cells[2].title.startsWith("20 "));
  }));

  test("waits_that_end_together_are_no_longer_than_each_was", async () => {
    const file = waits("together", Array.from({ length: 8 }, (_, i) => [50000, 1, i % THREADS, 5e9]));
    assert.ok(await inPart(file, "wall", 0, 45000) <= 8 * 10e6); // an end is known to 10 ms
    assert.equal(await inPart(file, "wall", 0, 60000), 40e9);
    assert.equal(await inPart(file, "wall", 45010, 50010), 40e9);
  });

  test("waits_of_a_coarse_time_are_spread_over_it_as_from_and_to_do", async () => {
    const many = waits("coarse-many", [[45000, 1000, 0, 8e9]]);
    const few = waits("coarse-few", [[45000, 1000, 0, 1e8]]);
    assert.equal(await inPart(many, "wall", 0, 45000), 0);
    assert.equal(await inPart(many, "wall", 0, 45500), 4e9);
    assert.equal(await inPart(few, "wall", 0, 45500), 5e7);
  });

  test("small_counts_of_many_stacks_have_the_sum_of_their_parts", async () => {
    const file = timed("fractions", Array.from({ length: 200 }, (_, i) => [1000, "main", `a.B.m${i}`, 1000]));
    assert.equal(await inPart(file, "samples", 1000, 1400), 80);
    assert.equal(await inPart(file, "samples", 1400, 2000), 120);
  });

  test("what_was_at_the_end_of_the_run_can_be_selected", async () => assert.equal(await inPart(timed("end", [[1000, "main", "a.B.x"], [3000, "main", "a.B.x"]], { end: 3000 }), "samples", 0, 3000), 2));

  test("times_are_rounded_before_they_are_told", () => {
    assert.deepEqual([179997, 3599996, 119996, 59994, 61230].map(scripts.offset), ["3:00", "1:00:00", "2:00", "59.99 s", "61.23 s"]);
    for (let ms = 0; ms < 4000000; ms += 12340) assert.equal(scripts.readOffset(scripts.offset(ms)), ms);
  });

  test("a_pause_without_an_end_is_shown", () => withPage(timed("endless", steps(0, 100, "main", "a.B.x"), { pauses: [[2500, "18446744073709551615"]] }), { fragment: "sub=1" }, async (page) => {
    assert.equal(await page.$eval("#heat-row", (e) => e.hidden), false);
  }));

  test("a_run_of_months_has_a_heat_map", () => withPage(timed("months", [...steps(0, 100, "main", "a.B.x"), ...steps(10368000000, 100, "main", "a.B.x")], { end: 10368001000 }), { fragment: "sub=1" }, async (page) => {
    assert.equal(await page.$eval("#heat-row", (e) => e.hidden), false);
  }));

  test("a_cell_of_the_heat_map_is_pale_once_and_only_if_nothing_of_it_is_selected", () => {
    const strip = Object.create(scripts.Strip.prototype);
    const [columns, rows, each] = [360, 50, 10];
    Object.assign(strip, { time: { pauses: [], step: 10, begin: 0, end: 3600000 }, page: { state: { from: 605000, to: 608000, near: "", base: "" }, colours: { dim: "dim" } }, drawn: { width: 1080 }, drag: null, mark: () => "", heat: { rows, columns, each, first: 0, cell: 20 } });
    const pale = new Map();
    const paper = { fillRect: (x, y) => pale.set(`${x} ${y}`, (pale.get(`${x} ${y}`) ?? 0) + 1) };
    strip.paintHeatMarks(paper, (column) => 3 * column, 2);
    assert.deepEqual([Math.max(...pale.values()), pale.size], [1, (columns - 1) * rows]);
    assert.ok(!pale.has("180 0")); // 600 to 610 s
  });

  test("a_way_back_in_the_heat_map_selects_the_same_cells", () => withPage(rhythm(), { fragment: "sub=1" }, async (page) => {
    await drag(page, "heat", [0.63, 0.499], [0.63, 0.301]);
    assert.deepEqual([(await state(page)).from, (await state(page)).to], ["12300", "12500"]);
  }));

  test("what_is_no_longer_selected_is_no_longer_compared", () => withPage(rhythm(), { fragment: "from=1000&to=2000&base=rest" }, async (page) => {
    await page.keyboard.press("t");
    await page.keyboard.press("Escape");
    assert.deepEqual([(await state(page)).to, (await state(page)).base], [undefined, undefined]);
  }));

  test("a_selection_with_keys_keeps_its_begin_where_its_end_was_rounded", () => withPage(timed("keys", steps(0, 100, "main", "a.B.x"), { end: 20005 }), {}, async (page) => {
    for (const key of ["t", "Home"]) await page.keyboard.press(key);
    await page.keyboard.down("Shift");
    for (const key of ["End", "ArrowLeft"]) await page.keyboard.press(key);
    await page.keyboard.up("Shift");
    assert.deepEqual([(await state(page)).from, (await state(page)).to], [undefined, "19900"]);
  }));

  test("parts_that_overlap_are_told", () => withPage(rhythm(), { fragment: "from=1000&to=3000&base=2000-4000" }, async (page) => assert.match(await text(page, "#verdict"), /overlap/)));

  test("a_base_that_is_no_part_is_none", () => withPage(rhythm(), { fragment: "base=7-x&from=0&to=9000" }, async (page) => assert.match(await text(page, "#chips"), /^Time:0 s to 9 s/)));

  // ---- a program ----

  const program = path.join(WORK, "rhythm-program");
  const phases = (what) => [...readFileSync(`${program}.log`, "utf-8").matchAll(/^(\w+) (\d+) (\d+)$/gm)].filter((m) => m[1] === what).map((m) => [Number(m[2]), Number(m[3])]);

  const converted = () => {
    execFileSync(PROGRAM, ["convert", `${program}.txt`, `${program}.html`]);
    return `${program}.html`;
  };

  test("the_page_has_the_rhythm_of_a_program", async () => {
    const tree = await unpacked(converted());
    for (const method of ["steady", "burst"]) {
      const told = phases(method);
      const hit = new Set();
      const off = [];
      for (const [at, node] of samplesOf(tree).filter(([, node]) => methodsOf(tree, node).includes(`Rhythm.${method}`))) {
        const phase = told.findIndex(([from, to]) => at >= from - NEAR && at <= to + NEAR);
        if (phase >= 0) hit.add(phase);
        else off.push(at);
      }
      assert.deepEqual(off.filter((at) => at <= told.at(-1)[1]), [], `${method} ran at no time that the program tells: ${JSON.stringify(told)}`);
      assert.ok(off.length <= 1 && hit.size >= told.length - 1, `${method}: ${hit.size} of ${told.length} phases, ${off.length} later`);
    }
    for (const [from, to] of phases("gc")) {
      assert.ok(pausesOf(tree).some(([begin, end]) => begin >= from - NEAR && end <= to + NEAR), `no pause from ${from} to ${to}`);
    }
  });

  test("lanes_have_the_states_of_threads", () => withPage(converted(), { fragment: "lanes=1" }, async (page) => {
    assert.match(await text(page, "#lane-legend"), /running.*sleeping/);
    assert.ok((await page.$$eval("#lane-names button", (all) => all.map((e) => e.textContent))).slice(0, 2).includes("main"));
  }));

  test("a_part_in_the_page_has_the_samples_that_from_and_to_give", async () => {
    const tree = await unpacked(converted());
    const [burst] = phases("burst").map(([from, to]) => [from, to].map((ms) => Math.round((ms - tree.time.zero) / 10) * 10));
    const source = folded(PROGRAM, `${program}.txt`, "samples", ["--from", `${burst[0]}ms`, "--to", `${burst[1]}ms`]);
    await withPage(`${program}.html`, { fragment: `mode=methods&from=${burst[0]}&to=${burst[1]}` }, async (page) => {
      const shown = (await rows(page, "methods")).map((cells) => [cells.at(-1), Number(cells.at(-4).split(" ")[0].replaceAll(",", ""))]);
      assert.deepEqual(Object.fromEntries(shown), Object.fromEntries([...source.total.keys()].map((method) => [method, source.self.get(method) ?? 0])));
    });
  });
}
