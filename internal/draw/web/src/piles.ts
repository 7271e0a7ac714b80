// Groups of objects that are drawn as one until somebody opens them. Which there are is
// said in the page; who is taken out of one has a box of their own.
import type { Forest } from "./forest.ts";
import type { World } from "./world.ts";

/** Pile is what a group stands for at the moment. */
export interface Pile {
  /** head is the object in whose place the group is drawn. */
  head: number;
  /** members are the objects that the group counts, below those that stand below them. */
  members: number;
  below: number;
  /** kinds is how many there are among the members. */
  kinds: number;
  /** remarks count what is below by look, and dangling what has an owner that does not exist; of several kinds the members count, too. */
  remarks: Map<number, number>;
  dangling: number;
  elsewhere: boolean;
}

export interface Piles {
  /** hide takes from what is shown whatever groups stand for, and counts it. */
  hide(shown: Uint8Array): void;
  /** pileOf is the group that is drawn in the place of an object. */
  pileOf(object: number): Pile | undefined;
  /** elsewhere are the namespaces in whose areas groups of several namespaces stand. */
  readonly elsewhere: ReadonlySet<number>;
  /** hidden says that an object is somewhere in a group. */
  hidden(object: number): boolean;
  /** open takes the next ones out of the group that is drawn there, close puts all back that were in one with an object. */
  open(object: number): void;
  close(object: number): void;
  opened(object: number): boolean;
  /** takeOut gives an object, and all above it, boxes of their own; it reports whether anything changes. */
  takeOut(object: number): boolean;
  /** prefix is what the names of a group have in common. */
  prefix(object: number): string;
}

/** atOnce is how many are taken out of a group at once. */
export const atOnce = 100;

export function makePiles(world: World, forest: Forest): Piles {
  const { arrows, boxes, classes, counted, elsewhere } = world.payload;
  const first = boxes.pile ?? [];
  const pile = Int32Array.from(first); // -1 for who has a box
  const apart = new Set(elsewhere ?? []);
  const members = new Map<number, number[]>();
  for (const i of forest.order) {
    const at = first[i] ?? -1;
    if (at < 0) continue;
    const there = members.get(at);
    if (there) there.push(i);
    else members.set(at, [i]);
  }
  const dangling = new Uint8Array(world.count);
  arrows.dependent.forEach((i, a) => classes[arrows.class[a]!] === "Dangling" && (dangling[i] = 1));
  const kinds = new Map([...members].map(([at, list]) => [at, new Set(list.map((i) => boxes.kind[i]!)).size]));
  let heads = new Map<number, Pile>(); // by pile
  const inside = new Int32Array(world.count).fill(-1); // the group that counts an object, unless it is its head
  const prefixes = new Map<number, string>();
  let several = new Set<number>();
  const pileOf = (i: number) => {
    const found = first.length > 0 ? heads.get(pile[i]!) : undefined;
    return found?.head === i ? found : undefined;
  };

  // An object may stand for more that are not in the page.
  const standsFor = (i: number) => counted?.[i]?.objects ?? 1;
  const belowThose = (i: number) => counted?.[i]?.below ?? 0;
  const remark = (at: Pile, i: number) => {
    const look = boxes.look[i]!;
    at.remarks.set(look, (at.remarks.get(look) ?? 0) + standsFor(i));
    at.dangling += dangling[i]!;
  };

  return {
    hide(shown) {
      if (first.length === 0) return;
      heads = new Map();
      inside.fill(-1);
      const whole = new Uint8Array(world.count); // has a box, and so have all above
      const within = new Int32Array(world.count).fill(-1); // the group of an object, or of one above
      for (const i of forest.order) {
        const up = forest.above[i]!;
        const own = pile[i]!;
        const reached = up < 0 || whole[up] === 1;
        whole[i] = reached && own < 0 ? 1 : 0;
        within[i] = reached ? own : within[up]!;
        if (whole[i] || !shown[i]) continue;
        const at = heads.get(within[i]!);
        if (reached && !at) {
          const pile = { head: i, members: standsFor(i), kinds: kinds.get(own) ?? 1, below: belowThose(i), remarks: new Map(), dangling: 0, elsewhere: apart.has(own) };
          heads.set(own, pile);
          if (pile.kinds > 1) remark(pile, i);
          continue;
        }
        shown[i] = 0;
        inside[i] = within[i]!;
        if (!at) continue; // nobody of the group above is shown
        if (reached) at.members += standsFor(i);
        else at.below += standsFor(i);
        at.below += belowThose(i);
        if (!reached || at.kinds > 1) remark(at, i);
      }
      several = new Set([...heads.values()].filter((p) => p.elsewhere && p.members > 1).map((p) => boxes.namespace[p.head]!));
    },
    pileOf,
    get elsewhere() {
      return several;
    },
    hidden: (i) => inside[i]! >= 0,
    open(i) {
      const at = pile[i]!;
      let left = atOnce;
      for (const k of members.get(at) ?? []) {
        if (pile[k] !== at || left === 0) continue;
        pile[k] = -1;
        left--;
      }
    },
    close(i) {
      for (const k of members.get(first[i] ?? -1) ?? []) pile[k] = first[k]!;
    },
    opened: (i) => (first[i] ?? -1) >= 0 && pile[i]! < 0,
    takeOut(object) {
      let some = false;
      for (let i = object; i >= 0; i = forest.above[i]!) {
        some ||= (pile[i] ?? -1) >= 0;
        if (first.length > 0) pile[i] = -1;
      }
      return some;
    },
    prefix(i) {
      const at = pile[i]!;
      let text = prefixes.get(at);
      if (text === undefined) prefixes.set(at, (text = common((members.get(at) ?? []).map((k) => world.names[k]!))));
      return text;
    },
  };
}

function common(names: string[]): string {
  let shared = names[0] ?? "";
  for (const name of names) {
    let n = 0;
    while (n < shared.length && shared[n] === name[n]) n++;
    shared = shared.slice(0, n);
  }
  return shared.length > 2 ? `${shared}…` : `${names[0] ?? ""}, …`;
}
