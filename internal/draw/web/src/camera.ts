// Where the reader looks at the drawing from.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import { frameOf } from "./frame.ts";
import type { Scene } from "./scene.ts";
import type { View } from "./draw.ts";

export interface Camera {
  readonly view: View;
  /** fit shows all of what matches. */
  fit(): void;
  /** open shows all where it can be read, and else the first of what matters. */
  open(groups: number[][]): void;
  /** frame shows as many objects of the first group as can be read at once, with those of the next groups that are near; it returns those that it shows. */
  frame(groups: number[][]): ReadonlySet<number>;
  /** steady keeps in its place what is in the middle, or selected, while the drawing changes. */
  steady(change: () => void): void;
  /** show brings a box into view, and near enough to be read. */
  show(box: number): void;
  /** centre moves a point of the plane to the middle. */
  centre(x: number, y: number): void;
  zoomBy(factor: number): void;
  /** resize follows the canvas, and reports whether it has changed. */
  resize(): boolean;
  /** plane is the point of the plane below a pointer. */
  plane(event: MouseEvent): [number, number];
}

const margin = 28;
const legible = 0.75; // names have nine pixels
const largest = 1.1;
const header = 36; // the name of an area
const narrow = 560; // a drawing without a map
const readable = 0.7;

export function makeCamera(canvas: HTMLCanvasElement, scene: Scene, moved: () => void): Camera {
  const view: View = { scale: 1, left: 0, top: 0, width: 1, height: 1 };
  let at: ZoomTransform = zoomIdentity;
  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent([0.002, 4])
    .clickDistance(4)
    .on("zoom", (event: { transform: ZoomTransform }) => {
      at = event.transform;
      [view.scale, view.left, view.top] = [at.k, at.x, at.y];
      moved();
    });
  const chosen = select(canvas);
  chosen.call(behaviour).on("dblclick.zoom", null);

  const go = (k: number, x: number, y: number) => {
    const to = zoomIdentity.translate(view.width / 2 - x * k, view.height / 2 - y * k).scale(k);
    behaviour.transform(chosen, to);
  };
  const measure = () => {
    const { width, height } = canvas.getBoundingClientRect();
    if (width === view.width && height === view.height) return false;
    [view.width, view.height] = [Math.max(1, width), Math.max(1, height)];
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    return true;
  };
  measure();

  const frame = (groups: number[][]) => {
    measure();
    const below = view.width > narrow ? 136 : 52; // what lies on the lower end of the drawing
    const [wide, high] = [view.width - 2 * margin, view.height - 2 * margin - below];
    const { seen, x0, y0, x1, y1 } = frameOf(scene, groups, wide / legible, high / legible - header);
    if (seen.size === 0) return seen;
    const [w, h] = [x1 - x0, y1 - y0 + header];
    const k = Math.max(legible, Math.min(wide / w, high / h, largest));
    const all = extent(scene);
    const [x, y] = [middle(x0, x1, all.x0, all.x1, view.width / k), middle(y0 - header, y1, all.y0, all.y1, (view.height - below) / k)];
    go(k, x, y + below / 2 / k);
    return seen;
  };
  const fit = () => {
    measure();
    const { x0, y0, x1, y1 } = extent(scene);
    if (x1 <= x0) return;
    const k = Math.min((view.width - 2 * margin) / (x1 - x0), (view.height - 2 * margin) / (y1 - y0), 1.25);
    go(Math.max(k, 0.002), (x0 + x1) / 2, (y0 + y1) / 2);
  };

  return {
    view,
    fit,
    frame,
    open(groups) {
      fit();
      if (at.k < legible && groups.length > 0) frame(groups);
    },
    steady(change) {
      const middle = at.invert([view.width / 2, view.height / 2]);
      const box = scene.selected >= 0 && scene.shown[scene.selected] ? scene.selected : nearest(scene, middle);
      const { rects } = scene.world;
      const [x, y] = [rects[box * 4]!, rects[box * 4 + 1]!];
      change();
      if (box >= 0) behaviour.translateBy(chosen, x - rects[box * 4]!, y - rects[box * 4 + 1]!);
    },
    show(box) {
      measure();
      const { rects } = scene.world;
      const [x, y, w, h] = [rects[box * 4]!, rects[box * 4 + 1]!, rects[box * 4 + 2]!, rects[box * 4 + 3]!];
      const [left, top] = at.apply([x, y]);
      const [right, bottom] = at.apply([x + w, y + h]);
      const inside = left >= 8 && top >= 8 && right <= view.width - 8 && bottom <= view.height - 8;
      if (inside && at.k >= 0.36) return;
      go(Math.max(at.k, readable), x + w / 2, y + h / 2);
    },
    centre: (x, y) => go(at.k, x, y),
    zoomBy: (factor) => behaviour.scaleBy(chosen, factor),
    resize() {
      const [x, y] = at.invert([view.width / 2, view.height / 2]);
      if (!measure()) return false;
      go(at.k, x, y);
      return true;
    },
    plane(event) {
      const { left, top } = canvas.getBoundingClientRect();
      return at.invert([event.clientX - left, event.clientY - top]);
    },
  };
}

/** middle is that of a stretch, moved as far as there would be nothing to see beyond the ends of all that is there. */
function middle(from: number, to: number, least: number, most: number, room: number): number {
  if (most - least <= room) return (least + most) / 2;
  return Math.max(least + room / 2 - margin, Math.min((from + to) / 2, most - room / 2 + margin));
}

/** nearest is the shown box next to a point, or -1. */
function nearest(scene: Scene, [x, y]: [number, number]): number {
  const { rects, count } = scene.world;
  let [found, least] = [-1, Infinity];
  for (let i = 0; i < count; i++) {
    const away = Math.hypot(rects[i * 4]! - x, rects[i * 4 + 1]! - y);
    if (scene.shown[i] && away < least) [found, least] = [i, away];
  }
  return found;
}

/** extent is the rectangle around what is shown and matches, or around all that is shown. */
export function extent(scene: Scene): { x0: number; y0: number; x1: number; y1: number } {
  const { rects, count, areaRects } = scene.world;
  const bounds = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  const add = (x: number, y: number, w: number, h: number) => {
    bounds.x0 = Math.min(bounds.x0, x);
    bounds.y0 = Math.min(bounds.y0, y);
    bounds.x1 = Math.max(bounds.x1, x + w);
    bounds.y1 = Math.max(bounds.y1, y + h);
  };
  const some = scene.matching.includes(1) && scene.matching.includes(0);
  for (let i = 0; i < count; i++) {
    if (scene.shown[i] && (!some || scene.matching[i])) add(rects[i * 4]!, rects[i * 4 + 1]!, rects[i * 4 + 2]!, rects[i * 4 + 3]!);
  }
  if (!some) areaRects.forEach((r) => r.h >= 8 && add(r.x, r.y, r.w, r.h));
  return bounds;
}
