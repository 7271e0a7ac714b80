// The cascade as states: what each step of the plan makes of each object. Going to a
// step does or undoes the changes between, so no step is ever stored as a whole.
import type { Step } from "./document.ts";
import type { World } from "./world.ts";

interface Change {
  step: number;
  object: number;
  from: number;
  to: number;
}

export interface Cascade {
  /** at is the number of steps done. */
  readonly at: number;
  readonly length: number;
  /** states are indexes of the world's looks. */
  readonly states: Uint8Array;
  /** goTo does or undoes steps. */
  goTo(step: number): void;
}

const group = (apiVersion: string) => (apiVersion.includes("/") ? apiVersion.split("/")[0]! : "");
const place = (apiVersion: string, kind: string, namespace: string) => [group(apiVersion), kind, namespace].join("\n");

export function makeCascade(world: World): Cascade {
  const states = Uint8Array.from(world.payload.boxes.state);
  const changes = fold(world, Uint8Array.from(states));
  let at = 0;
  let done = 0; // changes
  return {
    get at() {
      return at;
    },
    length: world.steps.length,
    states,
    goTo(step) {
      at = Math.max(0, Math.min(step, world.steps.length));
      for (; done < changes.length && changes[done]!.step <= at; done++) states[changes[done]!.object] = changes[done]!.to;
      for (; done > 0 && changes[done - 1]!.step > at; done--) states[changes[done - 1]!.object] = changes[done - 1]!.from;
    },
  };
}

function fold(world: World, states: Uint8Array): Change[] {
  const look = (name: string) => {
    const i = world.looks.indexOf(name);
    return i >= 0 ? i : world.looks.push(name) - 1;
  };
  const gone = look("Gone");
  const after = (was: string, step: Step): string => {
    if (was === "Gone" || (step.answer ?? 0) >= 400) return was;
    switch (step.verb) {
      case "REMOVED":
        return "Gone";
      case "DELETE":
      case "DELETECOLLECTION":
        if (step.policy === "Foreground" || was === "WaitingForDependents") return "WaitingForDependents";
        return "BeingDeleted";
      case "PATCH":
      case "PUT":
        return was === "Plain" ? "Changed" : was;
      default:
        return was;
    }
  };
  const together = gather(world);
  const changes: Change[] = [];
  world.steps.forEach((step, i) => {
    const { apiVersion, kind, namespace } = step.object;
    const objects =
      step.verb === "DELETECOLLECTION"
        ? (together.get(place(apiVersion, kind, namespace ?? "")) ?? [])
        : [world.find(step.object)];
    for (const object of objects) {
      if (object < 0 || states[object] === gone) continue;
      const from = states[object]!;
      const to = look(after(world.looks[from]!, step));
      if (to !== from) changes.push({ step: i + 1, object, from, to });
      states[object] = to;
    }
  });
  return changes;
}

/** gather lists the objects by kind and namespace. */
function gather(world: World): Map<string, number[]> {
  const together = new Map<string, number[]>();
  const { boxes, kinds, namespaces } = world.payload;
  for (let i = 0; i < world.count; i++) {
    const kind = kinds[boxes.kind[i]!]!;
    const at = place(kind.apiVersion, kind.kind, namespaces[boxes.namespace[i]!]!);
    const there = together.get(at);
    if (there) there.push(i);
    else together.set(at, [i]);
  }
  return together;
}
