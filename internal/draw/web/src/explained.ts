// What an explanation knows of its object: what it waits for, which deletes take it, and
// what would change that.
import { copyable } from "./commands.ts";
import type { Explained } from "./document.ts";
import { element, section } from "./element.ts";
import { visible } from "./visible.ts";
import { counted } from "./words.ts";
import type { World } from "./world.ts";

const most = 20; // deletes that are listed

export function explained(world: World, i: number): Node[] {
  const said = world.payload.explained;
  if (!said || said.object !== i) return [];
  const nodes: Node[] = [];
  const list = (title: string, texts: string[]) => {
    if (texts.length > 0) nodes.push(section(title, ...texts.map((t) => element("li", {}, t))));
  };
  list("What it ultimately waits for", said.waitsFor.map(visible));
  list("Deleting any of these deletes it", takers(said));
  if (said.remedies.length > 0) nodes.push(section("What would change it", ...said.remedies.flatMap(remedy)));
  return nodes;
}

function takers(said: Explained): string[] {
  const lines = said.takenBy.slice(0, most).map(visible);
  const more = said.takenBy.length - lines.length;
  if (more > 0) lines.push(`and ${more.toLocaleString("en")} more`);
  if (said.takersUntried) lines.push(`${counted(said.takersUntried, "more distant object")} not tried`);
  return lines;
}

/** remedy can be copied only if a reader sees every character of it. */
function remedy({ command, effect }: Explained["remedies"][number]): Node[] {
  const shown = visible(command);
  const line = shown === command ? copyable(command) : element("li", { class: "command" }, element("code", { tabindex: "0" }, shown));
  return effect ? [line, element("li", { class: "effect" }, visible(effect))] : [line];
}
