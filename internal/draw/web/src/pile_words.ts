// Groups in words.
import { lookStyle } from "./looks.ts";
import type { Pile } from "./piles.ts";
import type { Scene } from "./scene.ts";
import { counted } from "./words.ts";
import { kindOf, nameOf } from "./world.ts";

const usual = ["Plain", "Deleted", "Kept"];

/** times is "Pod ×48", and "Pod" for one. */
export const times = (kind: string, n: number) => (n === 1 ? kind : `${kind} ×${n.toLocaleString("en")}`);

/** pileLabel is what the names of a group have in common. */
export const pileLabel = (scene: Scene, pile: Pile) =>
  pile.members === 1 ? scene.world.names[pile.head]! : scene.prefix(pile.head);

/** pileKind is the kind of the members, and how many they are. */
export const pileKind = (scene: Scene, pile: Pile) =>
  times(pile.kinds > 1 ? `${pile.kinds} more kinds` : kindOf(scene.world, pile.head), pile.members);

/** pileName is a group as a reader names it. */
export const pileName = (scene: Scene, pile: Pile) =>
  pile.members === 1 ? nameOf(scene.world, pile.head) : `Group ${pileKind(scene, pile)}, ${scene.prefix(pile.head)}`;

/** remarked is what is remarkable below a group, with its look, the most frequent first. */
export function remarked(scene: Scene, pile: Pile): { look: string; words: string; count: number }[] {
  const lost = { look: "Absent", count: pile.dangling, words: `${pile.dangling.toLocaleString("en")} with a dangling reference` };
  const looks = [...pile.remarks]
    .map(([look, count]) => ({ look: scene.world.looks[look]!, count }))
    .filter(({ look }) => !usual.includes(look))
    .sort((a, b) => b.count - a.count)
    .map(({ look, count }) => ({ look, count, words: `${count.toLocaleString("en")} ${lookStyle(look).word.toLowerCase()}` }));
  return pile.dangling > 0 ? [...looks, lost] : looks;
}

/** pileWords say what is below the objects of a group, and what of that is remarkable. */
export function pileWords(scene: Scene, pile: Pile): string[] {
  const below = pile.below > 0 ? [`${counted(pile.below, "object")} below`] : [];
  return [...below, ...remarked(scene, pile).map(({ words }) => `of these ${words}`)];
}
