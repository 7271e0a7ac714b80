// What is large comes packed, as packed.go beside this directory says: numbers as
// differences, and objects and texts by number.
import type { Effect, Payload, Ref, Step } from "./document.ts";

interface PackedEffect {
  because?: number[];
  blockedBy?: { finalizers?: string[]; dependents?: number[]; conditions?: string[]; node?: string };
  removedReferences?: number[];
  alreadyHappening?: boolean;
  dependsOnTiming?: boolean;
  assumptions?: number[];
  recreator?: string;
}

interface PackedPlan {
  others: Ref[] | null;
  texts: string[];
  effects: { object: number[] | null; outcome: number[]; reason: number[]; message: number[]; rest: Record<string, PackedEffect> };
  steps: Record<"actor" | "verb" | "policy" | "reason" | "patch" | "waits" | "object" | "cause" | "answer", number[] | null>;
  why: number[];
}

export type Packed = Payload & { packedPlan?: PackedPlan };

/** unpack makes the payload as small pages have it. */
export function unpack(packed: Packed): Payload {
  const { boxes, arrows, packedPlan } = packed;
  sums(boxes.rects, 4);
  sums(boxes.pile ?? [], 1);
  sums(arrows.owner, 1);
  sums(arrows.dependent, 1);
  sums(arrows.paths, 2);
  if (packedPlan) unpackPlan(packed, packedPlan);
  return packed;
}

/** sums undoes differences from what is so many places before. */
function sums(list: number[], width: number): number[] {
  for (let i = width; i < list.length; i++) list[i]! += list[i - width]!;
  return list;
}

function unpackPlan(payload: Payload, plan: PackedPlan): void {
  const { boxes, kinds, namespaces } = payload;
  const { texts, effects, steps } = plan;
  const refs: Ref[] = boxes.name.map((name, i) => {
    const { apiVersion, kind } = kinds[boxes.kind[i]!]!;
    return { apiVersion, kind, namespace: namespaces[boxes.namespace[i]!]!, name, uid: boxes.uid[i]! };
  });
  refs.push(...(plan.others ?? []));
  const objects = (numbers?: number[]) => numbers?.map((n) => refs[n]!);
  const why: Record<string, string> = {};
  plan.why.forEach((text, i) => text && (why[i] = texts[text]!));
  boxes.why = why;
  const effect = (object: number, i: number): Effect => {
    const rest = effects.rest[i];
    return {
      ...rest,
      object: refs[object]!,
      outcome: texts[effects.outcome[i]!]!,
      reason: texts[effects.reason[i]!]!,
      message: texts[effects.message[i]!]!,
      because: objects(rest?.because),
      removedReferences: objects(rest?.removedReferences),
      assumptions: rest?.assumptions?.map((text) => texts[text]!),
      blockedBy: rest?.blockedBy && { ...rest.blockedBy, dependents: objects(rest.blockedBy.dependents) },
    };
  };
  const cause = sums(steps.cause ?? [], 1);
  const step = (object: number, i: number): Step => ({
    n: i + 1,
    actor: texts[steps.actor![i]!]!,
    verb: texts[steps.verb![i]!]!,
    object: refs[object]!,
    policy: texts[steps.policy![i]!]!,
    reason: texts[steps.reason![i]!]!,
    cause: cause[i]!,
    patch: texts[steps.patch![i]!]!,
    answer: steps.answer![i]!,
    waits: texts[steps.waits![i]!]!,
  });
  payload.plan = { effects: sums(effects.object ?? [], 1).map(effect), steps: sums(steps.object ?? [], 1).map(step) };
}
