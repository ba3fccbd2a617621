// SPDX-License-Identifier: BSD-2-Clause
// photograph.mjs PAGE PNG: the page as it opens, in the browser of tests/page.
import { launch, open } from "../../tests/page/browse.mjs";

const [file, png] = process.argv.slice(2);
const browser = await launch();
const page = await open(browser, file, { width: 1160, height: 720 });
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.screenshot({ path: png, optimizeForSpeed: false });
await browser.close();
