// Where the reader looks at the drawing from.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import type { Scene } from "./scene.ts";
import type { View } from "./draw.ts";

export interface Camera {
  readonly view: View;
  /** fit shows all of what matches. */
  fit(): void;
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

  return {
    view,
    fit() {
      measure();
      const { x0, y0, x1, y1 } = extent(scene);
      if (x1 <= x0) return;
      const k = Math.min((view.width - 2 * margin) / (x1 - x0), (view.height - 2 * margin) / (y1 - y0), 1.25);
      go(Math.max(k, 0.002), (x0 + x1) / 2, (y0 + y1) / 2);
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
