// What is not shown leaves no hole: bands of the drawing in which nothing is left are
// made narrow, and everything below moves up. Nothing changes its column or its
// order, so whoever knows the drawing still finds their way.
import type { World } from "./world.ts";

const breath = 24;
const label = 34; // of an area

/** arrange places what is shown, from where the layout has put it. */
export function arrange(world: World, shown: Uint8Array): void {
  const { boxes, arrows, areas } = world.payload;
  const move = shown.every((s) => s === 1) ? null : squeeze(bands(world, shown));
  for (let i = 0; i < world.rects.length; i += 4) {
    world.rects[i + 1] = move ? move(boxes.rects[i + 1]!) : boxes.rects[i + 1]!;
  }
  for (let i = 1; i < world.paths.length; i += 2) {
    world.paths[i] = move ? move(arrows.paths[i]!) : arrows.paths[i]!;
  }
  world.areaRects.forEach((rect, i) => {
    const [, y, , h] = areas[i]!.rect;
    rect.y = move ? move(y) : y;
    rect.h = (move ? move(y + h) : y + h) - rect.y;
  });
}

/** bands are the stretches of the vertical axis that are in use, sorted and apart. */
function bands(world: World, shown: Uint8Array): [number, number][] {
  const { boxes, areas } = world.payload;
  const used: [number, number][] = [];
  const inhabited = new Set<number>();
  for (let i = 0; i < world.count; i++) {
    if (!shown[i]) continue;
    inhabited.add(boxes.namespace[i]!);
    const y = boxes.rects[i * 4 + 1]!;
    used.push([y, y + boxes.rects[i * 4 + 3]!]);
  }
  for (const area of areas) {
    if (inhabited.has(area.namespace)) used.push([area.rect[1], area.rect[1] + label]);
  }
  used.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const band of used) {
    const last = merged.at(-1);
    if (last && band[0] <= last[1]) last[1] = Math.max(last[1], band[1]);
    else merged.push([...band]);
  }
  return merged;
}

/** squeeze maps the vertical axis to one in which the space between bands is small. */
function squeeze(used: [number, number][]): (y: number) => number {
  const from: number[] = [];
  const to: number[] = [];
  let end = 0;
  let out = 0;
  for (const [y0, y1] of used) {
    out += Math.min(y0 - end, breath);
    from.push(y0);
    to.push(out);
    out += y1 - y0;
    end = y1;
  }
  return (y) => {
    let low = -1;
    for (let high = from.length; high - low > 1; ) {
      const mid = (low + high) >> 1;
      if (from[mid]! <= y) low = mid;
      else high = mid;
    }
    const begin = low < 0 ? 0 : from[low]!;
    const base = low < 0 ? 0 : to[low]!;
    const length = low < 0 ? 0 : used[low]![1] - begin;
    const past = Math.max(0, y - begin - length);
    return base + Math.min(y - begin, length) + Math.min(past, breath);
  };
}
