// Which box is at a point, without asking every box.
import type { World } from "./world.ts";

const cell = 256;

export interface Grid {
  /** at is the number of the box at a point of the plane, or -1. */
  at(x: number, y: number): number;
  /** within calls back for each box that may be seen in a rectangle, once. */
  within(x0: number, y0: number, x1: number, y1: number, each: (box: number) => void): void;
}

export function makeGrid(world: World, shown: Uint8Array): Grid {
  const cells = new Map<number, number[]>();
  const spot = (column: number, row: number) => row * 65536 + column;
  const { rects } = world;
  for (let i = 0; i < world.count; i++) {
    if (!shown[i]) continue;
    const [x, y, w, h] = [rects[i * 4]!, rects[i * 4 + 1]!, rects[i * 4 + 2]!, rects[i * 4 + 3]!];
    for (let row = Math.floor(y / cell); row <= Math.floor((y + h) / cell); row++) {
      for (let column = Math.floor(x / cell); column <= Math.floor((x + w) / cell); column++) {
        const here = cells.get(spot(column, row));
        if (here) here.push(i);
        else cells.set(spot(column, row), [i]);
      }
    }
  }
  return {
    at(x, y) {
      for (const i of cells.get(spot(Math.floor(x / cell), Math.floor(y / cell))) ?? []) {
        const [bx, by] = [rects[i * 4]!, rects[i * 4 + 1]!];
        if (x >= bx && y >= by && x <= bx + rects[i * 4 + 2]! && y <= by + rects[i * 4 + 3]!) return i;
      }
      return -1;
    },
    within(x0, y0, x1, y1, each) {
      const [c0, c1, r0, r1] = [x0, x1, y0, y1].map((v) => Math.floor(v / cell)) as [number, number, number, number];
      if ((c1 - c0 + 1) * (r1 - r0 + 1) > cells.size) {
        for (let i = 0; i < world.count; i++) if (shown[i]) each(i);
        return;
      }
      for (let row = r0; row <= r1; row++) {
        for (let column = c0; column <= c1; column++) {
          for (const i of cells.get(spot(column, row)) ?? []) {
            // A box that is in several cells belongs to the first of them that is asked.
            const first = Math.max(c0, Math.floor(rects[i * 4]! / cell)) === column && Math.max(r0, Math.floor(rects[i * 4 + 1]! / cell)) === row;
            if (first) each(i);
          }
        }
      }
    },
  };
}
