// Builds dist/app.js, dist/app.css and dist/timeline.css. The same sources give the same bytes.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import * as esbuild from "esbuild";

const options = { bundle: true, minify: true, write: false, charset: "ascii", target: "es2022", legalComments: "none" };

const script = await esbuild.build({ ...options, entryPoints: ["src/main.ts"], format: "iife", metafile: true });
const style = async (name) => (await esbuild.build({ ...options, entryPoints: [`src/${name}.css`] })).outputFiles[0].text.trim();

// Whoever gets a page gets the licences of what is in it.
const packages = Object.keys(script.metafile.inputs)
  .map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
  .filter((name) => name !== undefined);
const notices = new Map();
for (const name of [...new Set(packages)].sort()) {
  const text = (await readFile(`node_modules/${name}/LICENSE`, "utf8")).trim();
  notices.set(text, [...(notices.get(text) ?? []), name]);
}
const notice = [...notices].map(([text, names]) => `${names.join(", ")}\n\n${text}`).join("\n\n");

await mkdir("dist", { recursive: true });
await writeFile("dist/app.js", `${script.outputFiles[0].text.trim()}\n/*!\n${notice.replaceAll("*/", "* /")}\n*/\n`);
await writeFile("dist/app.css", `${await style("style")}\n`);
await writeFile("dist/timeline.css", `${await style("timeline")}\n`);
