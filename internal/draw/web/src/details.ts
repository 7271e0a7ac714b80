// What is known of the selected object, and what to type about it.
import { commands } from "./commands.ts";
import type { Ref } from "./document.ts";
import { element, need, section } from "./element.ts";
import { explained } from "./explained.ts";
import { lookStyle, markIcon } from "./looks.ts";
import { atOnce, type Pile } from "./piles.ts";
import { pileKind, pileLabel, pileWords } from "./pile_words.ts";
import type { Scene } from "./scene.ts";
import { visible } from "./visible.ts";
import { counted } from "./words.ts";
import { kindOf, nameOf, namespaceOf, refName, type World } from "./world.ts";

const most = 50; // owners or dependents that are listed

export function showDetails(scene: Scene, chosen: (object: number) => void): void {
  const panel = need("details");
  const body = need("details-body");
  const show = () => {
    panel.hidden = scene.selected < 0;
    if (scene.selected >= 0) body.replaceChildren(...describe(scene, scene.selected, chosen));
  };
  scene.listen((what) => {
    if (what === "selection") body.scrollTop = 0;
    if (what === "selection" || what === "step" || what === "shown") show();
  });
  show();
}

function describe(scene: Scene, i: number, chosen: (object: number) => void): Node[] {
  const { world } = scene;
  const { boxes } = world.payload;
  const look = world.looks[scene.lookOf(i)]!;
  const namespace = namespaceOf(world, i);
  const pile = scene.pileOf(i);
  if (pile) return describePile(scene, pile);
  const left = world.payload.counted?.[i];
  const nodes: Node[] = [
    element("p", { class: "kind" }, kindOf(world, i) + (namespace ? ` in ${namespace}` : "")),
    element("h2", { class: "name" }, world.names[i]!),
    element("p", { class: `verdict tint-${lookStyle(look).tint}` }, markIcon(look), lookStyle(look).word),
  ];
  if (left) {
    const rest = left.objects > 1 ? `This page only counts ${counted(left.objects - 1, "more object")} like this one. ` : "";
    nodes.push(element("p", { class: "message" }, rest + visible(left.words ?? "")));
  }
  nodes.push(...fate(world, i, scene.outcome));
  if (!world.effects.has(i)) {
    const said = [boxes.why?.[i], boxes.note?.[i]].filter((text) => text !== undefined);
    nodes.push(...said.map((text) => element("p", { class: "message" }, visible(text))));
  }
  nodes.push(...explained(world, i));
  const finalizers = boxes.finalizers?.[i] ?? [];
  if (finalizers.length > 0) {
    nodes.push(section("Finalizers", ...finalizers.map((f) => element("li", {}, element("code", {}, visible(f))))));
  }
  const link = (other: number, extra: string) => objectLink(scene, other, extra, chosen);
  nodes.push(
    references("Owners", world.owners[i]!, (a) => link(world.payload.arrows.owner[a]!, roleOf(world, a))),
    references("Dependents", world.dependents[i]!, (a) => link(world.payload.arrows.dependent[a]!, "")),
  );
  if (scene.opened(i)) nodes.push(act("close", "Put back into its group", () => scene.close(i)));
  if (scene.below(i) > 0) {
    const folded = scene.collapsed.has(i);
    const text = folded ? "Unfold dependents" : `Fold ${counted(scene.below(i), "object")} below`;
    nodes.push(act("fold", text, () => scene.collapse(i, !folded)));
  }
  nodes.push(...commands(world, i));
  nodes.push(
    element("dl", { class: "facts" }, element("dt", {}, "API version"), element("dd", {}, visible(world.payload.kinds[boxes.kind[i]!]!.apiVersion)),
      element("dt", {}, "UID"), element("dd", {}, element("code", {}, visible(boxes.uid[i]!) || "none"))),
  );
  return nodes;
}

function act(id: string, text: string, done: () => void): HTMLElement {
  const button = element("button", { type: "button", id }, text);
  button.addEventListener("click", done);
  return button;
}

/** describePile says what a group stands for. */
function describePile(scene: Scene, pile: Pile): Node[] {
  const namespace = namespaceOf(scene.world, pile.head);
  const where = pile.elsewhere ? " in several namespaces" : namespace && ` in ${namespace}`;
  const next = Math.min(pile.members, atOnce);
  return [
    element("p", { class: "kind" }, pileKind(scene, pile) + where),
    element("h2", { class: "name" }, pileLabel(scene, pile)),
    ...pileWords(scene, pile).map((text) => element("p", { class: "message" }, text)),
    act("open", next === pile.members ? "Open this group" : `Open the first ${next}`, () => scene.unfold(pile.head)),
  ];
}

/** fate is what becomes of the object, from the plan. */
function fate(world: World, i: number, outcome: boolean): Node[] {
  const effect = world.effects.get(i);
  if (!effect) return [];
  const said = visible(effect.message);
  const nodes: Node[] = [
    element("p", { class: "message" }, (outcome ? "" : `In the end ${effect.outcome.toLowerCase()}: `) + said),
    element("p", { class: "reason" }, element("code", {}, visible(effect.reason))),
  ];
  const list = (title: string, texts: string[]) => {
    if (texts.length > 0) nodes.push(section(title, ...texts.map((t) => element("li", {}, t))));
  };
  const held = effect.blockedBy;
  list("Blocked by", [
    ...(held?.finalizers ?? []).map((f) => `finalizer ${visible(f)}`),
    ...(held?.dependents ?? []).map((r) => refName(r)),
    ...(held?.conditions ?? []).map((c) => visible(c)),
    ...(held?.node ? [`the kubelet of node ${visible(held.node)}`] : []),
  ]);
  list("References removed", (effect.removedReferences ?? []).map((r: Ref) => `to ${refName(r)}`));
  list("Assumed", (effect.assumptions ?? []).map(visible));
  const remarks: string[] = [];
  if (effect.alreadyHappening) remarks.push("This happens without the delete, too.");
  if (effect.dependsOnTiming) remarks.push("What becomes of it depends on timing.");
  if (effect.recreator) remarks.push(`${visible(effect.recreator)} creates it again.`);
  list("Note", remarks);
  return nodes;
}

function references(title: string, arrows: readonly number[], item: (arrow: number) => Node): HTMLElement {
  const none = element("li", { class: "none" }, "none");
  const items: Node[] = arrows.slice(0, most).map(item);
  if (arrows.length > most) items.push(element("li", { class: "none" }, `and ${(arrows.length - most).toLocaleString("en")} more`));
  return section(arrows.length > 1 ? `${title} (${arrows.length.toLocaleString("en")})` : title, ...(items.length > 0 ? items : [none]));
}

/** roleOf says what an owner reference counts as. */
function roleOf(world: World, arrow: number): string {
  const { arrows, classes } = world.payload;
  const flags = arrows.flags[arrow]!;
  const words = [flags & 1 && "controller", flags & 2 && "blocks a foreground delete", flags & 4 && "removed", (classes[arrows.class[arrow]!] ?? "").toLowerCase()];
  return words.filter(Boolean).join(", ");
}

function objectLink(scene: Scene, i: number, extra: string, chosen: (object: number) => void): HTMLElement {
  const { world } = scene;
  const look = world.looks[scene.lookOf(i)]!;
  const button = element("button", { type: "button", class: "link" }, markIcon(look), nameOf(world, i));
  button.setAttribute("aria-label", `${nameOf(world, i)}, ${lookStyle(look).word}`);
  button.addEventListener("click", () => chosen(i));
  const item = element("li", {}, button);
  if (extra) item.append(element("span", { class: "role" }, visible(extra)));
  return item;
}
