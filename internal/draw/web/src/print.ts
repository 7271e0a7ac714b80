// On paper there is no zooming: the whole drawing is put on one picture, beside the
// words, just before the page is printed.
import { draw } from "./draw.ts";
import { element, need } from "./element.ts";
import { lookStyle } from "./looks.ts";
import type { Scene } from "./scene.ts";
import { readTheme } from "./theme.ts";
import { stepReason, stepWords } from "./words.ts";
import { visible } from "./visible.ts";

const most = 4000; // pixels of a side
const lines = 500; // steps
const edge = 24; // of the drawing

export function preparePrint(scene: Scene): void {
  const sheet = need("sheet");
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    sheet.replaceChildren(picture(scene), legend(scene), ...steps(scene));
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    sheet.replaceChildren();
  });
}

function picture(scene: Scene): HTMLCanvasElement {
  const { width, height } = sizeOf(scene);
  const scale = Math.min(2, most / Math.max(width, height, 1));
  const canvas = element("canvas", { role: "img", "aria-label": visible(scene.world.payload.title) });
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d")!;
  draw(context, scene, { scale, left: 0, top: 0, width: canvas.width, height: canvas.height }, readTheme());
  return canvas;
}

/** sizeOf is the size of the drawing, which with groups is that of what is shown. */
function sizeOf({ world }: Scene): { width: number; height: number } {
  if (!world.payload.boxes.pile) return world.payload;
  const ends = (from: "x" | "y", size: "w" | "h") => Math.max(...world.areaRects.map((rect) => rect[from] + rect[size]));
  return { width: ends("x", "w") + edge, height: ends("y", "h") + edge };
}

function legend(scene: Scene): HTMLElement {
  const { looks, legend: entries } = scene.world.payload;
  return element("ul", {}, ...entries.map((e) => element("li", {}, `${lookStyle(looks[e.look]!).word}: ${e.count}. ${visible(e.words)}`)));
}

function steps(scene: Scene): HTMLElement[] {
  const all = scene.world.steps;
  if (all.length === 0) return [];
  const items = all.slice(0, lines).map((step) => {
    const reason = stepReason(scene.world, step);
    return element("li", {}, stepWords(step) + (reason ? ` (${reason})` : ""));
  });
  if (all.length > lines) items.push(element("li", {}, `and ${all.length - lines} more steps`));
  return [element("ol", {}, ...items)];
}
