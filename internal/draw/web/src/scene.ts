// What the page shows at the moment. Whoever changes it calls changed, and whoever shows
// a part of it listens.
import { arrange } from "./arrange.ts";
import { makeCascade, type Cascade } from "./cascade.ts";
import { makeForest, type Forest } from "./forest.ts";
import { makeGrid, type Grid } from "./grid.ts";
import { makePiles, type Pile } from "./piles.ts";
import type { World } from "./world.ts";

/** Change says what has changed: objects shown, matches, the selection or the step. */
export type Change = "shown" | "matches" | "selection" | "step";

export interface Scene {
  readonly world: World;
  readonly forest: Forest;
  readonly cascade: Cascade;
  readonly grid: Grid;
  /** shown and matching have 1 for each object that is. */
  readonly shown: Uint8Array;
  readonly matching: Uint8Array;
  readonly collapsed: ReadonlySet<number>;
  /** quietShown says that objects that are seldom looked for are shown. */
  readonly quietShown: boolean;
  readonly selected: number;
  /** outcome: the picture shows the end; otherwise the step at which the cascade is. */
  readonly outcome: boolean;
  /** lookOf is an index of the world's looks. */
  lookOf(object: number): number;
  /** restricts says that some objects do not match. */
  readonly restricts: boolean;
  /** pileOf is the group that is drawn in the place of an object, hidden says that an object is in one. */
  pileOf(object: number): Pile | undefined;
  hidden(object: number): boolean;
  /** elsewhere are the namespaces in whose areas groups of several namespaces stand. */
  readonly elsewhere: ReadonlySet<number>;
  prefix(object: number): string;
  /** unfold opens the group that is drawn in the place of an object, or shows or hides what is below it. */
  unfold(object: number): void;
  /** opened says that an object was taken out of a group, close puts those back that were in it. */
  opened(object: number): boolean;
  close(object: number): void;
  /** below counts the objects below one, of those that may be shown. */
  below(object: number): number;
  select(object: number): void;
  /** reveal shows objects that are hidden because they are seldom looked for, or in a group. */
  reveal(objects: number[]): void;
  showQuiet(yes: boolean): void;
  collapse(object: number, yes: boolean): void;
  match(matches: (object: number) => boolean, hideRest: boolean): void;
  goTo(step: number): void;
  showOutcome(): void;
  listen(to: (what: Change) => void): void;
}

export function makeScene(world: World): Scene {
  const forest = makeForest(world);
  const cascade = makeCascade(world);
  const shown = new Uint8Array(world.count).fill(1);
  const matching = new Uint8Array(world.count).fill(1);
  const collapsed = new Set<number>();
  const piles = makePiles(world, forest);
  const listeners: ((what: Change) => void)[] = [];
  const changed = (what: Change) => listeners.forEach((listener) => listener(what));
  let grid = makeGrid(world, shown);
  let selected = -1;
  let outcome = true;
  let hideRest = false;
  let quietShown = false;
  const quiet = new Uint8Array(world.count);
  for (const i of world.payload.boxes.quiet ?? []) quiet[i] = 1;
  const loud = Int32Array.from(forest.size); // below each object
  for (let k = world.count - 1; k >= 0; k--) {
    if (quiet[forest.order[k]!]) for (let i = forest.above[forest.order[k]!]!; i >= 0; i = forest.above[i]!) loud[i]!--;
  }

  const show = () => {
    for (let k = 0; k < world.count; ) {
      const i = forest.order[k]!;
      shown[i] = (hideRest && !matching[i]) || (quiet[i] && !quietShown) ? 0 : 1;
      const end = collapsed.has(i) ? k + forest.size[i]! + 1 : ++k;
      for (; k < end; k++) if (forest.order[k] !== i) shown[forest.order[k]!] = 0;
    }
    piles.hide(shown);
    arrange(world, shown);
    grid = makeGrid(world, shown);
    changed("shown");
  };
  if (quiet.includes(1) || world.payload.boxes.pile) show();
  const below = (object: number) => (quietShown ? forest.size[object]! : loud[object]!);
  const showQuiet = (yes: boolean) => {
    if (quietShown === yes) return;
    quietShown = yes;
    show();
  };
  const collapse = (object: number, yes: boolean) => {
    if (below(object) === 0 || collapsed.has(object) === yes) return;
    if (yes) collapsed.add(object);
    else collapsed.delete(object);
    show();
  };
  let restricts = false;

  return {
    world,
    forest,
    cascade,
    get grid() {
      return grid;
    },
    shown,
    matching,
    collapsed,
    get quietShown() {
      return quietShown;
    },
    get selected() {
      return selected;
    },
    get outcome() {
      return outcome;
    },
    lookOf: (object) => (outcome ? world.payload.boxes.look[object]! : cascade.states[object]!),
    below,
    get restricts() {
      return restricts;
    },
    pileOf: piles.pileOf,
    hidden: piles.hidden,
    get elsewhere() {
      return piles.elsewhere;
    },
    prefix: piles.prefix,
    unfold(object) {
      if (!piles.pileOf(object)) return collapse(object, !collapsed.has(object));
      piles.open(object);
      show();
    },
    opened: piles.opened,
    close(object) {
      piles.close(object);
      show();
    },
    reveal(objects) {
      if (objects.some((i) => quiet[i])) showQuiet(true);
      if (objects.filter(piles.takeOut).length > 0) show();
    },
    showQuiet,
    select(object) {
      for (let i = object < 0 ? -1 : forest.above[object]!; i >= 0; i = forest.above[i]!) {
        if (collapsed.delete(i)) show();
      }
      selected = object;
      changed("selection");
    },
    collapse,
    match(matches, hide) {
      for (let i = 0; i < world.count; i++) matching[i] = matches(i) ? 1 : 0;
      restricts = matching.includes(0);
      const again = hide || hideRest;
      hideRest = hide;
      if (again) show();
      changed("matches");
    },
    goTo(step) {
      outcome = false;
      cascade.goTo(step);
      changed("step");
    },
    showOutcome() {
      outcome = true;
      changed("step");
    },
    listen: (to) => void listeners.push(to),
  };
}
