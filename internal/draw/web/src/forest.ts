// The order in which objects are listed: every owner before its dependents, each object
// once, below the owner that controls it. References may go in circles.
import type { World } from "./world.ts";

export interface Forest {
  /** order lists all objects; level and above belong to an object's number. */
  readonly order: Int32Array;
  readonly position: Int32Array;
  readonly level: Int32Array;
  /** above is the owner below which an object is listed, or -1. */
  readonly above: Int32Array;
  /** size counts the objects listed below an object. */
  readonly size: Int32Array;
}

export function makeForest(world: World): Forest {
  const n = world.count;
  const { arrows } = world.payload;
  const above = new Int32Array(n).fill(-1);
  const below: number[][] = Array.from({ length: n }, () => []);
  for (let i = 0; i < n; i++) {
    const own = world.owners[i]!;
    const first = own.find((a) => arrows.flags[a]! & 1) ?? own[0];
    if (first === undefined || arrows.owner[first] === i) continue;
    above[i] = arrows.owner[first]!;
    below[above[i]!]!.push(i);
  }
  const order = new Int32Array(n);
  const position = new Int32Array(n).fill(-1);
  const level = new Int32Array(n);
  let filled = 0;
  const list = (root: number) => {
    const left = [root];
    while (left.length > 0) {
      const i = left.pop()!;
      if (position[i]! >= 0) continue;
      position[i] = filled;
      order[filled++] = i;
      level[i] = i === root ? 0 : level[above[i]!]! + 1;
      for (let k = below[i]!.length - 1; k >= 0; k--) left.push(below[i]![k]!);
    }
  };
  for (let i = 0; i < n; i++) if (above[i] === -1) list(i);
  for (let i = 0; i < n; i++) {
    if (position[i]! >= 0) continue;
    above[i] = -1; // the circle is opened here
    list(i);
  }
  const size = new Int32Array(n);
  for (let k = n - 1; k >= 0; k--) {
    const i = order[k]!;
    if (above[i]! >= 0) size[above[i]!]! += size[i]! + 1;
  }
  return { order, position, level, above, size };
}
