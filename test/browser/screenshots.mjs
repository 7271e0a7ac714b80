// Writes docs/pictures/*.png: what the program draws, as a person sees it.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(import.meta.dirname ?? ".", "../..");
const clusters = process.env.CLUSTERS;
const large = "sonobuoy-v1.25-triliovault-for-kubernetes.tar.gz";

const plan = ["dry-run", "delete", "deployment/web", "-n", "shop", "--cascade=foreground", "--from", "examples/shop.yaml"];
const garbage = ["collect", "--from", "examples/garbage.yaml"];
const cluster = ["graph", "--from", "examples/cluster.yaml"];
const many = ["graph", "--from", large];

const chooseReplicaSet = async (page) => {
  await page.locator("#objects [role=treeitem]", { hasText: "ReplicaSet" }).first().click();
  await page.locator("#slider").fill("5");
};
const pictures = [
  { name: "page-plan", args: plan, format: "html", before: chooseReplicaSet },
  { name: "page-plan-dark", args: plan, format: "html", dark: true, before: chooseReplicaSet },
  { name: "page-garbage", args: garbage, format: "html" },
  { name: "page-cluster", args: cluster, format: "html" },
  { name: "page-large", args: many, format: "html" },
  { name: "svg-cluster-dark", args: cluster, format: "svg", width: 1400, dark: true },
  { name: "svg-large", args: many, format: "svg", width: 1600 },
];

const dir = await mkdtemp(join(tmpdir(), "kubectl-gc-screenshots-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const picture of pictures) await take(picture);
} finally {
  await browser.close();
  await rm(dir, { recursive: true });
}

async function take({ name, args, format, dark, width = 1440, before }) {
  if (args === many && !(clusters && existsSync(join(clusters, large)))) {
    console.error(`${name}: no dump of a real cluster: set CLUSTERS`);
    return;
  }
  const file = join(dir, `${name}.${format}`);
  await writeFile(file, execFileSync(join(root, "bin/kubectl-gc"), [...args, "-o", format], { cwd: args === many ? clusters : root, maxBuffer: 1 << 28 }));
  const page = await browser.newPage({ viewport: { width, height: format === "html" ? 900 : 200 }, colorScheme: dark ? "dark" : "light" });
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
  await page.screenshot({ path: to, fullPage: format === "svg" });
  await page.close();
  const { size } = await stat(to);
  console.log(`${name}.png: ${Math.round(size / 1000)} kB`);
  if (size > 300_000) throw new Error(`${name}.png is too large for a repository`);
}
