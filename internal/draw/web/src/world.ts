// The objects and references of the page, by number.
import type { Effect, Payload, Ref, Step } from "./document.ts";
import { visible } from "./visible.ts";

export interface World {
  readonly payload: Payload;
  readonly count: number;
  /** rects are where the boxes stand now: x, y, width, height of each. */
  readonly rects: Float64Array;
  /** paths are the points of the arrows now; arrow i has those from starts[i] to starts[i+1]. */
  readonly paths: Float64Array;
  readonly starts: Uint32Array;
  /** areaRects are where the areas of the payload stand now. */
  readonly areaRects: { x: number; y: number; w: number; h: number }[];
  readonly looks: string[];
  /** names are safe to show, everything in `payload` is not. */
  readonly names: string[];
  readonly kinds: string[];
  readonly namespaces: string[];
  /** owners and dependents are numbers of arrows. */
  readonly owners: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  readonly effects: ReadonlyMap<number, Effect>;
  readonly steps: readonly Step[];
  /** find is the number of an object, or -1. */
  find(ref: Ref): number;
  findUID(uid: string): number;
}

const key = (r: Ref) => [r.apiVersion, r.kind, r.namespace ?? "", r.name].join("\n");

export function makeWorld(payload: Payload): World {
  const { boxes, arrows } = payload;
  const count = boxes.name.length;
  const owners: number[][] = Array.from({ length: count }, () => []);
  const dependents: number[][] = Array.from({ length: count }, () => []);
  const starts = new Uint32Array(arrows.bends.length + 1);
  arrows.bends.forEach((n, i) => {
    starts[i + 1] = starts[i]! + n;
    owners[arrows.dependent[i]!]!.push(i);
    dependents[arrows.owner[i]!]!.push(i);
  });
  const byUID = new Map<string, number>();
  for (let i = 0; i < count; i++) if (boxes.uid[i]) byUID.set(boxes.uid[i]!, i);
  let byName: Map<string, number> | undefined; // for what has no uid, which is rare
  const find = (ref: Ref) => byUID.get(ref.uid) ?? (byName ??= nameMap(payload)).get(key(ref)) ?? -1;
  const effects = new Map<number, Effect>();
  for (const effect of payload.plan?.effects ?? []) {
    const i = find(effect.object);
    if (i >= 0) effects.set(i, effect);
  }
  return {
    payload,
    count,
    rects: Float64Array.from(boxes.rects),
    paths: Float64Array.from(arrows.paths),
    starts,
    areaRects: payload.areas.map(({ rect: [x, y, w, h] }) => ({ x, y, w, h })),
    looks: [...payload.looks],
    names: boxes.name.map((name, i) => visible(name) || `uid ${visible(boxes.uid[i]!)}`),
    kinds: payload.kinds.map((k) => visible(k.kind)),
    namespaces: payload.namespaces.map(visible),
    owners,
    dependents,
    effects,
    steps: payload.plan?.steps ?? [],
    find,
    findUID: (uid) => byUID.get(uid) ?? -1,
  };
}

function nameMap({ boxes, kinds, namespaces }: Payload): Map<string, number> {
  const map = new Map<string, number>();
  boxes.name.forEach((name, i) =>
    map.set(key({ ...kinds[boxes.kind[i]!]!, namespace: namespaces[boxes.namespace[i]!]!, name, uid: "" }), i),
  );
  return map;
}

/** kindOf and namespaceOf are safe to show. */
export const kindOf = (w: World, i: number) => w.kinds[w.payload.boxes.kind[i]!]!;
export const namespaceOf = (w: World, i: number) => w.namespaces[w.payload.boxes.namespace[i]!]!;
/** nameOf is an object as a reader names it. */
export const nameOf = (w: World, i: number) => `${kindOf(w, i)} ${w.names[i]!}`;

/** refName is nameOf for what may not be in the drawing. */
export function refName(ref: Ref): string {
  return visible(ref.kind) + (ref.name ? " " + visible(ref.name) : "");
}
