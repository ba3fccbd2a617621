// SPDX-License-Identifier: BSD-2-Clause
// browse.mjs: what the tests, the bench and the picture of the page share: a browser without a network, and collapsed stacks as sums.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const tools = createRequire(`${process.env.TOOLS}/`);
export const AXE = process.env.TOOLS && tools.resolve("axe-core/axe.min.js");

// No name resolves, and nothing on this machine can be asked, either.
const OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--disable-background-networking"];

export async function launch() {
  const puppeteer = tools("puppeteer-core");
  const sandbox = process.getuid() === 0 ? ["--no-sandbox"] : [];
  return (puppeteer.default ?? puppeteer).launch({ executablePath: process.env.CHROMIUM, headless: true, args: [...sandbox, ...OFFLINE, "--force-prefers-reduced-motion=0"] });
}

// A page that has unpacked its data. page.trouble: errors, messages of the console, and requests for anything but the file.
export async function open(browser, file, { fragment = "", dark = false, still = true, width = 1280, height = 800, before = null } = {}) {
  const page = await browser.newPage();
  const url = pathToFileURL(file).href;
  page.trouble = [];
  page.on("pageerror", (error) => page.trouble.push(String(error)));
  page.on("console", (message) => page.trouble.push(message.text()));
  page.on("dialog", (dialog) => page.trouble.push(dialog.message()) && dialog.dismiss());
  page.on("request", (request) => request.url().split("#")[0] === url || page.trouble.push(request.url()));
  await page.setViewport({ width, height });
  await page.setOfflineMode(true);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: still ? "reduce" : "no-preference" }]);
  if (before) await before(page);
  await page.goto(url + (fragment ? `#${fragment}` : ""));
  await page.waitForSelector("html[data-ready]");
  return page;
}

// A view of a profile: total, self and total by method, and the sums of the stacks that begin so.
export function folded(program, file, view, options = []) {
  const text = execFileSync(program, ["convert", ...options, "--view", view, "--to", ".folded", file, "-"], { encoding: "utf-8", maxBuffer: 1 << 30 });
  const sums = { all: 0, self: new Map(), total: new Map(), prefix: new Map(), stacks: [] };
  const add = (map, key, value) => map.set(key, (map.get(key) ?? 0) + value);
  for (const line of text.split("\n").filter(Boolean)) {
    const at = line.lastIndexOf(" ");
    // The thread is the root of its stacks; the page tells threads in another place.
    const whole = line.slice(0, at).replace(/^\[(?!no stack\]|rest\])[^;]*\](;|$)/, "");
    const stack = whole === "[no stack]" || whole === "" ? [] : whole.split(";");
    const value = Number(line.slice(at + 1));
    sums.stacks.push([stack, value]);
    sums.all += value;
    if (stack.length > 0) add(sums.self, stack[stack.length - 1], value);
    new Set(stack).forEach((method) => add(sums.total, method, value));
    stack.forEach((_, i) => add(sums.prefix, stack.slice(0, i + 1).join(";"), value));
  }
  return sums;
}
