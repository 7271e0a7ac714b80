// One browser for all tests, and pages that tell what they should not have done.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** pages is the directory with the pages, and the documents that they were made of. */
export const pages = process.env.PAGES;

/** patience is how long anything may take that has to happen, on whatever machine. */
const patience = 5 * 60_000;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  timeout: patience,
  args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
});
after(() => browser.close());

/** document reads what `-o json` has printed. Steps name their objects by the uids of effects, and get their names. */
export async function document(name) {
  const read = JSON.parse(await readFile(`${pages}/${name}.json`, "utf8"));
  const whole = new Map((read.effects ?? []).map(({ object }) => [object.uid, object]));
  for (const step of read.steps ?? []) step.object = { ...whole.get(step.object.uid), ...step.object };
  return read;
}

/**
 * onPage is a test of a page. Whatever the page does beyond itself fails it: requests,
 * dialogs, errors, and what the policy has kept it from doing.
 */
export function onPage(title, name, options, body) {
  test(title, async (t) => {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });
    context.setDefaultTimeout(patience);
    try {
      const page = await context.newPage();
      const url = pathToFileURL(`${pages}/${name}.html`).href + (options.hash ?? "");
      const trouble = watch(page, url.replace(/#.*/, ""), options.mayLog ?? /(?!)/);
      if (options.clock) await page.clock.install();
      await page.addInitScript(listen);
      await page.goto(url);
      if (options.javaScriptEnabled !== false) await page.waitForSelector("html[data-drawn]");
      await body(page, t);
      assert.deepEqual(trouble, []);
    } finally {
      await context.close();
    }
  });
}

/** listen keeps what is written on the canvas: the text, where it begins, its size in pixels. */
function listen() {
  const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
  globalThis.written = [];
  CanvasRenderingContext2D.prototype.fillRect = function (x, y, ...size) {
    // A drawing begins with its ground.
    if (this.canvas.id === "canvas" && x === 0 && y === 0 && this.getTransform().e === 0) globalThis.written = [];
    return fillRect.call(this, x, y, ...size);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (this.canvas.id === "canvas") {
      const to = this.getTransform();
      const at = to.transformPoint({ x, y });
      globalThis.written.push({ text, x: at.x, y: at.y, size: to.a * parseFloat(/([\d.]+)px/.exec(this.font)[1]) });
    }
    return fillText.call(this, text, x, y);
  };
}

/** written is what is on the canvas to read, once it is drawn. */
export const written = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(globalThis.written)))));

// The tests read canvases, which draw for people and not for tests.
const ours = /willReadFrequently/;

function watch(page, url, mayLog) {
  const trouble = [];
  page.on("request", (r) => {
    if (r.url().replace(/#.*/, "") !== url && !r.url().startsWith("data:image/svg+xml;base64,")) trouble.push(`request: ${r.url()}`);
  });
  page.on("dialog", (d) => {
    trouble.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on("pageerror", (e) => trouble.push(`error: ${e}`));
  page.on("console", (m) => {
    if (["error", "warning"].includes(m.type()) && !ours.test(m.text()) && !mayLog.test(m.text())) trouble.push(`console: ${m.text()}`);
  });
  return trouble;
}

/** data is what is embedded in a page. */
export const data = (page) => page.evaluate(() => JSON.parse(globalThis.document.getElementById("data").textContent));

/** rows are the objects that are listed: those in view, unless the window is high. */
export const rows = (page) =>
  page.$$eval("#objects [role=treeitem]", (all) => all.map((row) => ({ uid: row.dataset.uid, look: row.dataset.look, label: row.getAttribute("aria-label") })));

/** showQuiet shows what a page hides at first, if it hides anything. */
export async function showQuiet(page) {
  if (await page.locator("#quiet").isVisible()) await page.check("#show-quiet");
}

/** row is the element of an object in the list. */
export const row = (page, uid) => page.locator(`#objects [data-uid="${uid}"]`);

export const text = (page, selector) => page.locator(selector).innerText();

/** spot is where on the screen the middle of a box is. */
export async function spot(page, uid) {
  const { boxes } = await data(page);
  const [x, y, w, h] = boxes.rects.slice(4 * boxes.uid.indexOf(uid));
  return page.locator("#canvas").evaluate(
    (canvas, { x, y }) => {
      const { k, x: left, y: top } = canvas.__zoom;
      const at = canvas.getBoundingClientRect();
      return { x: at.left + x * k + left, y: at.top + y * k + top };
    },
    { x: x + w / 2, y: y + h / 2 },
  );
}

/** colours counts the colours of a canvas. */
export const colours = (page, selector = "#canvas") =>
  page.locator(selector).evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });

/** pixel is the colour of a canvas at a point, or of what a style says. */
export const pixel = (page, x, y) =>
  page.locator("#canvas").evaluate((canvas, [x, y]) => [...canvas.getContext("2d").getImageData(x, y, 1, 1).data], [x, y]);
