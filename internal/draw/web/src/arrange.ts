// What is not shown leaves no hole: bands of the drawing in which nothing is left are
// made narrow, columns in which nothing is left vanish, and everything beyond moves up
// or to the left. Nothing changes its column or its order, so whoever knows the drawing
// still finds their way.
import type { World } from "./world.ts";

const breath = 24;
const label = 34; // of an area
const inset = 18; // of the boxes in it

type Move = (at: number) => number;

/** arrange places what is shown, from where the layout has put it. */
export function arrange(world: World, shown: Uint8Array): void {
  const { boxes, arrows, areas } = world.payload;
  const all = shown.every((s) => s === 1);
  const inhabited = new Set(boxes.namespace.filter((_, i) => shown[i]));
  // Groups leave so much out that the gaps between the columns would be most of what is left.
  const across = boxes.pile ? () => squeeze(merge([...usedColumns(world, shown), ...borders(world, inhabited)])) : () => without(emptyColumns(world, shown));
  const left: Move = all ? (x) => x : across();
  const up: Move = all ? (y) => y : squeeze(bands(world, shown, inhabited));
  for (let i = 0; i < world.rects.length; i += 4) {
    world.rects[i] = left(boxes.rects[i]!);
    world.rects[i + 1] = up(boxes.rects[i + 1]!);
  }
  for (let i = 0; i < world.paths.length; i += 2) {
    world.paths[i] = left(arrows.paths[i]!);
    world.paths[i + 1] = up(arrows.paths[i + 1]!);
  }
  world.areaRects.forEach((rect, i) => {
    const [x, y, w, h] = inhabited.has(areas[i]!.namespace) ? areas[i]!.rect : [0, 0, 0, 0];
    [rect.x, rect.y] = [left(x), up(y)];
    [rect.w, rect.h] = [left(x + w) - rect.x, up(y + h) - rect.y];
  });
}

/** stretches are the parts of the horizontal axis with boxes that are shown, or that are not. */
function stretches(world: World, shown: Uint8Array, wanted: number): [number, number][] {
  const { rects } = world.payload.boxes;
  const found: [number, number][] = [];
  for (let i = 0; i < world.count; i++) {
    if (shown[i] === wanted) found.push([rects[i * 4]!, rects[i * 4]! + rects[i * 4 + 2]!]);
  }
  return merge(found);
}

/** usedColumns are the stretches with boxes that are shown, or that an arrow needs. */
function usedColumns(world: World, shown: Uint8Array): [number, number][] {
  const { arrows } = world.payload;
  const lines: [number, number][] = [];
  arrows.owner.forEach((owner, i) => {
    if (!shown[owner] || !shown[arrows.dependent[i]!]) return;
    const [begin, end] = [arrows.paths[world.starts[i]! * 2]!, arrows.paths[world.starts[i + 1]! * 2 - 2]!];
    lines.push([Math.min(begin, end), Math.max(begin, end)]);
  });
  return merge([...stretches(world, shown, 1), ...lines]);
}

/** borders are the stretches between the edges of areas and the boxes in them. */
function borders({ payload }: World, inhabited: Set<number>): [number, number][] {
  return payload.areas
    .filter((area) => inhabited.has(area.namespace))
    .flatMap(({ rect: [x, , w] }) => [[x, x + inset], [x + w - inset, x + w]] as [number, number][]);
}

/** emptyColumns are the stretches with boxes of which none is shown, and that no arrow needs. */
function emptyColumns(world: World, shown: Uint8Array): [number, number][] {
  const used = usedColumns(world, shown);
  const empty: [number, number][] = [];
  let k = 0;
  for (const [from, to] of stretches(world, shown, 0)) {
    let at = from;
    while (k < used.length && used[k]![1] <= from) k++;
    for (let n = k; n < used.length && used[n]![0] < to; n++) {
      if (used[n]![0] > at) empty.push([at, used[n]![0]]);
      at = Math.max(at, used[n]![1]);
    }
    if (at < to) empty.push([at, to]);
  }
  return empty;
}

/** without maps an axis to one that lacks some stretches. */
function without(gone: [number, number][]): Move {
  const begins = gone.map(([from]) => from);
  let less = 0;
  const before = gone.map(([from, to]) => (less += to - from) - (to - from)); // what is gone before each
  return (x) => {
    const k = last(begins, x);
    return k < 0 ? x : x - before[k]! - Math.min(x - begins[k]!, gone[k]![1] - begins[k]!);
  };
}

/** last is the index of the last of sorted numbers that is not above another one, or -1. */
function last(sorted: number[], at: number): number {
  let low = -1;
  for (let high = sorted.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** bands are the stretches of the vertical axis that are in use, sorted and apart. */
function bands(world: World, shown: Uint8Array, inhabited: Set<number>): [number, number][] {
  const { boxes, areas } = world.payload;
  const used: [number, number][] = [];
  for (let i = 0; i < world.count; i++) {
    if (!shown[i]) continue;
    const y = boxes.rects[i * 4 + 1]!;
    used.push([y, y + boxes.rects[i * 4 + 3]!]);
  }
  for (const area of areas) {
    if (inhabited.has(area.namespace)) used.push([area.rect[1], area.rect[1] + label]);
  }
  return merge(used);
}

/** merge sorts stretches, and makes one of those that touch. */
function merge(used: [number, number][]): [number, number][] {
  used.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const band of used) {
    const end = merged.at(-1);
    if (end && band[0] <= end[1]) end[1] = Math.max(end[1], band[1]);
    else merged.push([...band]);
  }
  return merged;
}

/** squeeze maps the vertical axis to one in which the space between bands is small. */
function squeeze(used: [number, number][]): Move {
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
    const low = last(from, y);
    const begin = low < 0 ? 0 : from[low]!;
    const base = low < 0 ? 0 : to[low]!;
    const length = low < 0 ? 0 : used[low]![1] - begin;
    const past = Math.max(0, y - begin - length);
    return base + Math.min(y - begin, length) + Math.min(past, breath);
  };
}
