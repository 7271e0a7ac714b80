// Writes docs/pictures/*.png: what the program draws, as a person sees it.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { indexed } from "./palette.mjs";

const root = resolve(import.meta.dirname ?? ".", "../..");

const plan = ["dry-run", "delete", "deployment/web", "-n", "shop", "--cascade=foreground", "--from", "examples/shop.yaml"];
const cluster = ["graph", "--from", "examples/cluster.yaml"];

const chooseReplicaSet = async (page) => {
  await page.locator("#objects [role=treeitem]", { hasText: "ReplicaSet" }).first().click();
  await page.locator("#slider").fill("5");
};
const openMoment = async (page) => {
  await page.locator("li summary").nth(1).click();
  await page.evaluate(() => globalThis.scrollTo(0, 0));
};
const pictures = [
  { name: "page-plan", args: plan, format: "html", before: chooseReplicaSet },
  { name: "page-namespace", objects: 250, format: "html" },
  { name: "page-namespace-5000", objects: 5000, format: "html", dark: true },
  { name: "page-narrow", objects: 250, format: "html", width: 400 },
  { name: "page-lost", lost: 60, format: "html" },
  { name: "page-lost-5000", lost: 5000, format: "html", dark: true, before: openMoment },
  { name: "page-lost-narrow", lost: 5000, format: "html", width: 400 },
  { name: "svg-cluster-dark", args: cluster, format: "svg", width: 1400, dark: true },
];

const dir = await mkdtemp(join(tmpdir(), "kubectl-gc-screenshots-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const picture of pictures) await take(picture);
} finally {
  await browser.close();
  await rm(dir, { recursive: true });
}

async function take({ name, objects, lost, args, format, dark, width = 1280, before }) {
  if (objects) {
    await writeFile(join(dir, "pic.json"), execFileSync("node", ["namespace.mjs", objects], { maxBuffer: 1 << 28 }));
    args = ["dry-run", "delete", "namespace/pic", "--from", "pic.json"];
  }
  const file = join(dir, `${name}.${format}`);
  const [program, words] = lost
    ? ["go", ["run", "./test/browser/lostpage", String(lost), format]]
    : [join(root, "bin/kubectl-gc"), [...args, "-o", format]];
  await writeFile(file, execFileSync(program, words, { cwd: objects ? dir : root, maxBuffer: 1 << 28 }));
  const page = await browser.newPage({ viewport: { width, height: format === "html" ? 800 : 200 }, colorScheme: dark ? "dark" : "light" });
  if (format === "html") {
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("html[data-drawn]");
    await before?.(page);
  } else {
    // As a page of a repository shows it: as wide as the page.
    const ground = dark ? "#0d1117" : "#ffffff";
    await page.setContent(`<!doctype html><body style="margin:16px;background:${ground}"><img style="width:100%;max-height:1500px;object-fit:contain">`);
    const source = `data:image/svg+xml;base64,${execFileSync("base64", ["-w0", file], { maxBuffer: 1 << 28 })}`;
    await page.locator("img").evaluate((img, src) => ((img.src = src), img.decode()), source);
  }
  const to = join(root, "docs/pictures", `${name}.png`);
  await writeFile(to, await smaller(page, await page.screenshot({ fullPage: format === "svg" })));
  await page.close();
  const { size } = await stat(to);
  console.log(`${name}.png: ${Math.round(size / 1000)} kB`);
  if (size > 150_000) throw new Error(`${name}.png is too large for a repository`);
}

/** smaller is a picture with fewer colours. */
async function smaller(page, png) {
  await page.goto("about:blank");
  const [width, height, pixels] = await page.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let text = "";
    for (let i = 0; i < data.length; i += 32768) text += String.fromCharCode(...data.subarray(i, i + 32768));
    return [image.width, image.height, btoa(text)];
  }, `data:image/png;base64,${png.toString("base64")}`);
  return indexed(Buffer.from(pixels, "base64"), width, height);
}
