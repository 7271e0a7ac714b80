// The steps of a plan as chapters: what one actor does to objects of one kind, one after
// the other, and that they are gone then.
import type { Step } from "./document.ts";
import { deedOf } from "./words.ts";

/** Chapter is the steps from a number to another one; the first step is number 1. */
export interface Chapter {
  from: number;
  to: number;
  /** objects is the number of objects to which it is done, gone of those that are gone then. */
  objects: number;
  gone: number;
}

const least = 3; // steps: fewer need no title

/** makeChapters has every step in one chapter, in their order; many have one step. */
export function makeChapters(steps: readonly Step[]): Chapter[] {
  const runs: Chapter[] = [];
  let deed = "";
  steps.forEach((step, i) => {
    const last = runs.at(-1);
    const gone = step.verb === "REMOVED";
    if (last && (gone ? sameKind(step, steps[last.from - 1]!) : deedOf(step) === deed)) {
      last.to = i + 1;
    } else {
      runs.push({ from: i + 1, to: i + 1, objects: 0, gone: 0 });
      deed = deedOf(step);
    }
    runs.at(-1)![gone ? "gone" : "objects"]++;
  });
  return runs.flatMap((run) => (run.to - run.from + 1 < least ? single(steps, run) : [run]));
}

function single(steps: readonly Step[], { from, to }: Chapter): Chapter[] {
  return steps.slice(from - 1, to).map((step, i) => {
    const gone = step.verb === "REMOVED" ? 1 : 0;
    return { from: from + i, to: from + i, objects: 1 - gone, gone };
  });
}

const sameKind = ({ object: a }: Step, { object: b }: Step) =>
  a.kind === b.kind && a.apiVersion === b.apiVersion && (a.namespace ?? "") === (b.namespace ?? "");
