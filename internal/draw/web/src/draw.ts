// The drawing on a canvas. Far away it is dots of colour, nearer boxes, then names: what
// could not be read is not drawn.
import { lookStyle } from "./looks.ts";
import { pileKind, pileLabel, pileWords, remarked, times } from "./pile_words.ts";
import type { Pile } from "./piles.ts";
import type { Scene } from "./scene.ts";
import { makeText } from "./text.ts";
import type { Theme } from "./theme.ts";
import { visible } from "./visible.ts";
import { kindOf, namespaceOf } from "./world.ts";

export interface View {
  /** A point of the plane is at x·scale+left, y·scale+top of the canvas. */
  scale: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

const names = 0.36; // the scale from which text is drawn
const borders = 0.16;
const arrows = 0.09;
const dots = 0.07;

const text = makeText();
const marks = new Map<string, Path2D>();

/** draw draws the part of the scene that the view shows. */
export function draw(context: CanvasRenderingContext2D, scene: Scene, view: View, theme: Theme): void {
  const { scale, left, top, width, height } = view;
  const ratio = context.canvas.width / width;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, width, height);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
  const seen = { x0: -left / scale, y0: -top / scale, x1: (width - left) / scale, y1: (height - top) / scale };
  drawAreas(context, scene, seen, scale, theme);
  if (scale >= arrows) drawArrows(context, scene, seen, scale, theme);
  if (scale < dots) drawDots(context, scene, seen, scale, theme);
  else scene.grid.within(seen.x0, seen.y0, seen.x1, seen.y1, (i) => drawBox(context, scene, i, scale, theme));
  if (scene.selected >= 0 && scene.shown[scene.selected]) drawSelection(context, scene, scale, theme);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawNamespaces(context, scene, view, theme);
}

interface Seen {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

function drawAreas(context: CanvasRenderingContext2D, scene: Scene, seen: Seen, scale: number, theme: Theme): void {
  scene.world.areaRects.forEach((area) => {
    if (area.h < 8 || area.x > seen.x1 || area.y > seen.y1 || area.x + area.w < seen.x0 || area.y + area.h < seen.y0) return;
    context.beginPath();
    context.roundRect(area.x, area.y, area.w, area.h, 10);
    context.fillStyle = theme.area;
    context.fill();
    context.strokeStyle = theme.areaLine;
    context.lineWidth = 1 / scale;
    context.stroke();
  });
}

/** drawNamespaces names the areas; seen from afar that is all there is to read. */
function drawNamespaces(context: CanvasRenderingContext2D, scene: Scene, view: View, theme: Theme): void {
  const { scale, left, top, width, height } = view;
  const near = scale >= names;
  const size = near ? 13 * Math.min(scale, 1.5) : 12;
  context.textBaseline = "middle";
  const inset = near ? 12 * scale : 6;
  const places: Place[] = [];
  scene.world.areaRects.forEach((area, i) => {
    const [x, y, wide, high] = [area.x * scale + left, area.y * scale + top, area.w * scale, area.h * scale];
    if (area.h < 8 || wide < 44 || high < 18 || x > width || y > height || x + wide < 0 || y + high < 0) return;
    const namespace = areaName(scene, i);
    const begin = Math.max(x, 0); // of what is seen of it
    places.push({ x: begin + inset, y: near ? y + 18 * scale : y + 12, room: x + wide - begin - 2 * inset, namespace });
  });
  for (const place of places) {
    context.font = `600 ${size}px ${theme.font}`;
    let label = labelOf(context, place, places);
    if (!label && !near) {
      context.font = `10px ${theme.font}`;
      label = labelOf(context, place, places);
    }
    if (!label) continue;
    if (!near) {
      context.globalAlpha = 0.88;
      context.fillStyle = theme.area;
      context.fillRect(place.x - 4, place.y - 10, context.measureText(label).width + 8, 20);
      context.globalAlpha = 1;
    }
    context.fillStyle = near ? theme.muted : theme.text;
    context.fillText(label, place.x, place.y);
  }
}

/** areaName is the namespace of an area, or says that there are more. */
function areaName(scene: Scene, i: number): string {
  const { namespaces, payload } = scene.world;
  const at = payload.areas[i]!.namespace;
  return scene.elsewhere.has(at) ? `${namespaces[at]!} and others` : namespaces[at]!;
}

/** Place is where the name of an area begins, and its room. */
interface Place {
  x: number;
  y: number;
  room: number;
  namespace: string;
}

/** labelOf is the name of an area. It may reach beyond the area up to the next name; only what somebody has named is cut. */
function labelOf(context: CanvasRenderingContext2D, place: Place, places: Place[]): string {
  const label = place.namespace || "no namespace";
  const next = Math.min(...places.filter((p) => p.x > place.x && Math.abs(p.y - place.y) < 20).map((p) => p.x));
  if (context.measureText(label).width <= Math.max(place.room, next - place.x - 4)) return label;
  return place.namespace && text.fit(context, label, place.room);
}

/** Line is how a reference is drawn: what it counts as has a colour and a pattern. */
interface Line {
  colour: (theme: Theme) => string;
  dash: number[];
}

const lines: Record<string, Line> = {
  removed: { colour: (theme) => theme.tint("deleted").line, dash: [9, 3, 2, 3] },
  Dangling: { colour: (theme) => theme.tint("deleted").line, dash: [2, 3] },
  Waiting: { colour: (theme) => theme.tint("being-deleted").line, dash: [9, 3] },
  Unknown: { colour: (theme) => theme.tint("unknown").line, dash: [1, 4] },
  controller: { colour: (theme) => theme.arrow, dash: [] },
  second: { colour: (theme) => theme.arrow, dash: [5, 3] },
};

function lineOf(scene: Scene, arrow: number): Line {
  const { arrows: all, classes } = scene.world.payload;
  const flags = all.flags[arrow]!;
  if (flags & 4) return lines.removed!;
  return lines[classes[all.class[arrow]!]!] ?? (flags & 1 ? lines.controller! : lines.second!);
}

function drawArrows(context: CanvasRenderingContext2D, scene: Scene, seen: Seen, scale: number, theme: Theme): void {
  const { arrows: all } = scene.world.payload;
  const chosen = new Path2D();
  const paths = new Map<Line, Path2D>();
  for (let i = 0; i < all.owner.length; i++) {
    const [owner, dependent] = [all.owner[i]!, all.dependent[i]!];
    if (!scene.shown[owner] || !scene.shown[dependent] || !touches(scene, i, seen)) continue;
    const line = lineOf(scene, i);
    let path = owner === scene.selected || dependent === scene.selected ? chosen : paths.get(line);
    if (!path) paths.set(line, (path = new Path2D()));
    trace(path, scene, i, scale >= borders);
  }
  context.lineJoin = "round";
  context.globalAlpha = scale < names ? 0.55 : 1;
  context.lineWidth = Math.max(1.25, 0.8 / scale);
  for (const [line, path] of paths) {
    context.strokeStyle = line.colour(theme);
    context.setLineDash(line.dash);
    context.stroke(path);
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
  context.strokeStyle = theme.accent;
  context.lineWidth = Math.max(2.25, 1.5 / scale);
  context.stroke(chosen);
}

function touches(scene: Scene, arrow: number, seen: Seen): boolean {
  const { paths, starts } = scene.world;
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = starts[arrow]!; k < starts[arrow + 1]!; k++) {
    const [x, y] = [paths[k * 2]!, paths[k * 2 + 1]!];
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y < y0) y0 = y;
    if (y > y1) y1 = y;
  }
  return x0 <= seen.x1 && x1 >= seen.x0 && y0 <= seen.y1 && y1 >= seen.y0;
}

/** trace adds an arrow with round corners and, seen from near, a head. */
function trace(path: Path2D, scene: Scene, arrow: number, near: boolean): void {
  const { paths, starts } = scene.world;
  const [begin, end] = [starts[arrow]!, starts[arrow + 1]! - 1];
  path.moveTo(paths[begin * 2]!, paths[begin * 2 + 1]!);
  for (let k = begin + 1; k < end; k++) {
    const [x, y, nx, ny] = [paths[k * 2]!, paths[k * 2 + 1]!, paths[k * 2 + 2]!, paths[k * 2 + 3]!];
    const before = Math.hypot(x - paths[k * 2 - 2]!, y - paths[k * 2 - 1]!);
    const radius = near ? Math.min(8, before / 2, Math.hypot(nx - x, ny - y) / 2) : 0;
    path.arcTo(x, y, nx, ny, radius);
  }
  const [x, y] = [paths[end * 2]!, paths[end * 2 + 1]!];
  path.lineTo(x, y);
  if (!near) return;
  const angle = Math.atan2(y - paths[end * 2 - 1]!, x - paths[end * 2 - 2]!);
  for (const side of [-0.45, 0.45]) {
    path.moveTo(x - 7 * Math.cos(angle + side), y - 7 * Math.sin(angle + side));
    path.lineTo(x, y);
  }
}

function drawBox(context: CanvasRenderingContext2D, scene: Scene, i: number, scale: number, theme: Theme): void {
  const { rects, looks } = scene.world;
  const [x, y, w, h] = [rects[i * 4]!, rects[i * 4 + 1]!, rects[i * 4 + 2]!, rects[i * 4 + 3]!];
  const style = lookStyle(looks[scene.lookOf(i)]!);
  const tint = theme.tint(style.tint);
  const dim = scene.matching[i] ? 1 : 0.16;
  context.globalAlpha = style.faded ? dim * 0.55 : dim;
  if (scale < borders) {
    context.fillStyle = tint.line;
    context.fillRect(x, y, w, h);
    context.globalAlpha = 1;
    return;
  }
  const pile = scene.pileOf(i);
  context.beginPath();
  if (pile || scene.world.payload.counted?.[i]) context.roundRect(x + 4, y + 4, w, h, 6);
  context.roundRect(x, y, w, h, 6);
  context.fillStyle = tint.fill;
  context.fill();
  context.strokeStyle = tint.line;
  context.lineWidth = targets(scene).has(i) ? 2.5 : 1.25;
  context.setLineDash(style.dash);
  context.stroke();
  context.setLineDash([]);
  if (scale >= names) drawLabel(context, scene, i, theme);
  else {
    context.fillStyle = tint.line;
    context.fillRect(x + 8, y + h / 2 - 2, Math.max(8, w * 0.55), 4);
  }
  if (pile) drawBelow(context, scene, pile, theme, x + w, y + h);
  else if (scene.collapsed.has(i)) drawCount(context, x + w, y + h / 2, `+${scene.below(i).toLocaleString("en")}`, theme.accent, theme);
  context.globalAlpha = 1;
}

const targetSets = new WeakMap<Scene, Set<number>>();

/** targets are the objects that were asked about. */
export function targets(scene: Scene): Set<number> {
  let found = targetSets.get(scene);
  if (!found) targetSets.set(scene, (found = new Set(scene.world.payload.boxes.targets ?? [])));
  return found;
}

function drawLabel(context: CanvasRenderingContext2D, scene: Scene, i: number, theme: Theme): void {
  const { rects, looks, names: all } = scene.world;
  const [x, y, w, h] = [rects[i * 4]!, rects[i * 4 + 1]!, rects[i * 4 + 2]!, rects[i * 4 + 3]!];
  const look = looks[scene.lookOf(i)]!;
  const style = lookStyle(look);
  const tint = theme.tint(style.tint);
  const inset = 11;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const room = w - inset * 2 - (style.mark ? 18 : 0);
  const middle = y + Math.min(h, 46) / 2;
  context.font = `11px ${theme.font}`;
  context.fillStyle = theme.muted;
  const pile = scene.pileOf(i);
  const more = scene.world.payload.counted?.[i]?.objects ?? 1;
  const kind = pile ? pileKind(scene, pile) : times(kindOf(scene.world, i), more);
  const both = `${kind} · ${style.short ?? style.word.toLowerCase()}`;
  const whole = style.mark !== "" && context.measureText(both).width <= room; // else the mark says it
  context.fillText(whole ? both : text.fit(context, kind, room), x + inset, middle - 8);
  const note = h > 50 && !pile ? scene.world.payload.boxes.note?.[i] : undefined;
  if (note) context.fillText(text.fit(context, visible(note), w - inset * 2), x + inset, y + 51);
  context.font = `${targets(scene).has(i) ? 700 : 500} 12px ${theme.mono}`;
  context.fillStyle = theme.text;
  context.fillText(text.fit(context, pile ? pileLabel(scene, pile) : all[i]!, w - inset * 2), x + inset, middle + 9);
  if (!style.mark) return;
  let mark = marks.get(style.mark);
  if (!mark) marks.set(style.mark, (mark = new Path2D(style.mark)));
  context.save();
  context.translate(x + w - 22, middle - 14);
  context.lineCap = "round";
  context.strokeStyle = tint.line;
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.stroke(mark);
  context.restore();
}

/** drawBelow says on the lower edge of a group what is below its objects, and what of that is remarkable. */
function drawBelow(context: CanvasRenderingContext2D, scene: Scene, pile: Pile, theme: Theme, right: number, y: number): void {
  const [worst] = remarked(scene, pile);
  const label = [pile.below > 0 && `+${pile.below.toLocaleString("en")}`, worst?.words].filter(Boolean).join(" · ");
  if (!label) return;
  context.font = `600 11px ${theme.font}`;
  const half = context.measureText(label).width / 2 + 7;
  drawCount(context, right - half + 8, y, label, worst ? theme.tint(lookStyle(worst.look).tint).line : theme.accent, theme);
}

/** drawCount says how many objects a collapsed one hides. */
function drawCount(context: CanvasRenderingContext2D, x: number, y: number, label: string, colour: string, theme: Theme): void {
  context.font = `600 11px ${theme.font}`;
  const wide = context.measureText(label).width + 14;
  context.beginPath();
  context.roundRect(x - wide / 2, y - 9, wide, 18, 9);
  context.fillStyle = colour;
  context.fill();
  context.fillStyle = theme.ground;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(label, x, y + 0.5);
  context.textAlign = "left";
}

function drawSelection(context: CanvasRenderingContext2D, scene: Scene, scale: number, theme: Theme): void {
  const { rects } = scene.world;
  const i = scene.selected * 4;
  const away = 3 / Math.min(1, scale);
  context.beginPath();
  context.roundRect(rects[i]! - away, rects[i + 1]! - away, rects[i + 2]! + 2 * away, rects[i + 3]! + 2 * away, 8);
  context.strokeStyle = theme.accent;
  context.lineWidth = Math.max(2.5, 2.5 / scale);
  context.stroke();
}

let dotsCanvas: HTMLCanvasElement | undefined;

/** drawDots draws each box as the dots that it covers: the cost is that of the screen. */
export function drawDots(context: CanvasRenderingContext2D, scene: Scene, seen: Seen, scale: number, theme: Theme): void {
  const wide = Math.max(1, Math.ceil((seen.x1 - seen.x0) * scale));
  const high = Math.max(1, Math.ceil((seen.y1 - seen.y0) * scale));
  dotsCanvas ??= document.createElement("canvas");
  dotsCanvas.width = wide;
  dotsCanvas.height = high;
  const own = dotsCanvas.getContext("2d")!;
  const image = own.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = scene.world.looks.map((look) => packed(own, theme.tint(lookStyle(look).tint).line));
  const { rects } = scene.world;
  for (let i = 0; i < scene.world.count; i++) {
    if (!scene.shown[i]) continue;
    const x0 = Math.max(0, Math.floor((rects[i * 4]! - seen.x0) * scale));
    const y0 = Math.max(0, Math.floor((rects[i * 4 + 1]! - seen.y0) * scale));
    const x1 = Math.min(wide, Math.max(x0 + 1, Math.round((rects[i * 4]! + rects[i * 4 + 2]! - seen.x0) * scale)));
    const y1 = Math.min(high, Math.max(y0 + 1, Math.round((rects[i * 4 + 1]! + rects[i * 4 + 3]! - seen.y0) * scale)));
    const alpha = scene.matching[i] ? 0xff000000 : 0x30000000;
    const colour = (colours[scene.lookOf(i)]! & 0xffffff) | alpha;
    for (let y = y0; y < y1; y++) pixels.fill(colour, y * wide + x0, y * wide + x1);
  }
  own.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(dotsCanvas, seen.x0, seen.y0, wide / scale, high / scale);
}

/** packed is a colour as a pixel of image data. */
function packed(context: CanvasRenderingContext2D, colour: string): number {
  context.fillStyle = colour;
  const hex = parseInt(String(context.fillStyle).slice(1), 16);
  return ((hex & 0xff) << 16) | (hex & 0xff00) | (hex >> 16);
}

/** describeBox is what is shown while a pointer rests on a box. */
export function describeBox(scene: Scene, i: number): string {
  const { world } = scene;
  const namespace = namespaceOf(world, i);
  const pile = scene.pileOf(i);
  if (pile) return [`${pileKind(scene, pile)} ${pileLabel(scene, pile)}`, ...pileWords(scene, pile)].join("\n");
  const lines = [`${kindOf(world, i)} ${world.names[i]!}`, namespace && `in ${namespace}`, lookStyle(world.looks[scene.lookOf(i)]!).word];
  return lines.filter(Boolean).join("\n");
}
