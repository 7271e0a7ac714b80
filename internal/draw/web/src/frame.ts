// Which of many objects can be seen at once, where text can still be read.
import type { Scene } from "./scene.ts";

export interface Frame {
  readonly seen: ReadonlySet<number>;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

const tries = 64;

/** frameOf has as many objects of the first group as have room together, and those of the next groups that have room beside them. */
export function frameOf(scene: Scene, groups: number[][], wide: number, high: number): Frame {
  const { rects } = scene.world;
  const shown = groups.map((group) => group.filter((i) => scene.shown[i])).filter((group) => group.length > 0);
  const first = shown[0] ?? [];
  let best: number[] = [];
  for (const corner of first.slice(0, tries)) {
    const [x, y] = [rects[corner * 4]!, rects[corner * 4 + 1]!];
    const inside = first.filter((i) => {
      const [left, top] = [rects[i * 4]! - x, rects[i * 4 + 1]! - y];
      return left >= 0 && top >= 0 && left + rects[i * 4 + 2]! <= wide && top + rects[i * 4 + 3]! <= high;
    });
    if (inside.length > best.length) best = inside;
  }
  const seen = new Set<number>();
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const i of [...best, ...shown.flat()]) {
    const [x, y] = [rects[i * 4]!, rects[i * 4 + 1]!];
    const [left, top] = [Math.min(x0, x), Math.min(y0, y)];
    const [right, bottom] = [Math.max(x1, x + rects[i * 4 + 2]!), Math.max(y1, y + rects[i * 4 + 3]!)];
    if (seen.size > 0 && (right - left > wide || bottom - top > high)) continue;
    [x0, y0, x1, y1] = [left, top, right, bottom];
    seen.add(i);
  }
  return { seen, x0, y0, x1, y1 };
}
