// Steps and states in words.
import type { Chapter } from "./chapters.ts";
import type { Step } from "./document.ts";
import { visible } from "./visible.ts";
import { refName, type World } from "./world.ts";

const actors: Record<string, string> = {
  user: "You",
  collector: "Garbage collector",
  apiserver: "API server",
  kubelet: "Kubelet",
  "namespace-controller": "Namespace controller",
};

const policies: Record<string, string> = {
  Background: "",
  Foreground: " in the foreground",
  Orphan: " and orphan its dependents",
};

/** what is the deed, with the ending that its verb has after who did it. */
function what(step: Step, first: "" | "s", object = refName(step.object)): string {
  const place = step.object.namespace ? ` in ${visible(step.object.namespace)}` : "";
  switch (step.verb) {
    case "DELETE":
      return `delete${first} ${object}${policies[step.policy ?? ""] ?? ""}`;
    case "DELETECOLLECTION":
      return `delete${first} every ${object}${place}`;
    case "GET":
      return `look${first} at ${object}`;
    case "PATCH":
    case "PUT": {
      const patch = step.patch ?? "";
      if (patch.includes("ownerReferences")) return `remove${first} owner references from ${object}`;
      if (patch.includes("finalizers")) return `take${first} a finalizer off ${object}`;
      return `update${first} ${object}`;
    }
    default:
      return `${visible(step.verb)} ${object}`;
  }
}

/** actorOf is who acts. */
export const actorOf = (step: Step) => actors[step.actor] ?? visible(step.actor);

/** stepWords is a step as a sentence without its reason. */
export function stepWords(step: Step): string {
  if (step.verb === "REMOVED") return `${refName(step.object)} is gone`;
  return `${actorOf(step)} ${what(step, step.actor === "user" ? "" : "s")}${refusal(step)}`;
}

const refusal = (step: Step) => ((step.answer ?? 0) >= 400 ? `; answered with ${step.answer}` : "");

/** stepTitle begins with what matters in a list: what is done to which object. */
export function stepTitle(step: Step): string {
  if (step.verb === "REMOVED") return stepWords(step);
  const deed = what(step, "") + refusal(step);
  return deed.charAt(0).toUpperCase() + deed.slice(1);
}

/** stepReason says why, and what the object then waits for. */
export function stepReason(world: World, step: Step): string {
  const reason = step.reason ? (world.payload.sentences[step.reason] ?? visible(step.reason)) : "";
  if (!step.waits) return reason;
  return (reason ? reason + "; " : "") + "waits for " + visible(step.waits);
}

/** deedOf is the same for steps that do the same to objects of one kind. */
export const deedOf = (step: Step) =>
  [step.actor, what(step, "", step.object.kind), step.object.apiVersion, step.object.namespace ?? "", refusal(step)].join("\n");

/** chapterTitle is stepTitle for all steps of a chapter, which begins with this one. */
export function chapterTitle(step: Step, { objects, gone }: Chapter): string {
  const many = (n: number) => (n === 1 ? refName(step.object) : `${n.toLocaleString("en")} ${plural(visible(step.object.kind))}`);
  if (objects === 0) return `${many(gone)} are gone`;
  const deed = what(step, "", step.verb === "DELETECOLLECTION" ? undefined : many(objects)) + refusal(step);
  return deed.charAt(0).toUpperCase() + deed.slice(1);
}

/** plural is of a kind; one like Endpoints is its own. */
function plural(kind: string): string {
  if (/[^aeiou]y$/.test(kind)) return kind.slice(0, -1) + "ies";
  if (/(ss|x|ch|sh)$/.test(kind)) return kind + "es";
  return kind.endsWith("s") ? kind : kind + "s";
}

/** counted is "1 object", "3 objects". */
export function counted(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}
