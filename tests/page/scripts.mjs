// SPDX-License-Identifier: BSD-2-Clause
// scripts.mjs: what the page's scripts define, without a page. As a program, `scripts.mjs FILE`: when the page has the CPU time of which stack, and what
// the collector did: JSON {samples: [[ms since 1970, [method, ...]]], pauses: [[from, to]]}.
import { readFileSync, realpathSync } from "node:fs";
import path from "node:path";

const PAGE = path.join(import.meta.dirname, "../../command/page");
export const scripts = new Function("$", "document", `${["unpack", "chance", "stacks", "times", "graph", "tables", "strip"].map((name) => readFileSync(path.join(PAGE, `${name}.js`), "utf-8")).join("\n")}; return { unpack, Profile, PLAIN, Strip, offset, readOffset };`)(() => null, { activeElement: undefined });

// The data of a page, unpacked as the page does it.
export async function unpacked(file) {
  return (await scripts.unpack(/type="text\/plain">(.*?)<\/script>/s.exec(readFileSync(file, "utf-8"))[1])).trees[0];
}

// [ms since 1970, node] of the finest bins of CPU time.
export function samplesOf(tree) {
  const cpu = tree.views.find((view) => view.key === "cpu");
  const grain = cpu.grains.find(({ ms }) => ms === tree.time.step);
  return Array.from(grain.place, (place, i) => [tree.time.zero + tree.time.begin + grain.start[i] * tree.time.step, cpu.node[place]]);
}

// Outermost last.
export function methodsOf(tree, node) {
  const methods = [];
  for (let at = node; at > 0; at = tree.nodes.parent[at]) methods.push(tree.names[tree.frames.name[tree.nodes.frame[at]]]);
  return methods;
}

export const pausesOf = (tree) => tree.time.pauses.map(({ from, to }) => [tree.time.zero + from, tree.time.zero + to]);

if (process.argv[1] && realpathSync(process.argv[1]) === import.meta.filename) {
  const tree = await unpacked(process.argv[2]);
  process.stdout.write(JSON.stringify({ samples: samplesOf(tree).map(([ms, node]) => [ms, methodsOf(tree, node)]), pauses: pausesOf(tree) }));
}
