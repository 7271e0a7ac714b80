// Which objects match: what is typed, and what is ticked.
import { element, need } from "./element.ts";
import { lookStyle, markIcon } from "./looks.ts";
import type { Scene } from "./scene.ts";
import { visible } from "./visible.ts";

export interface Filters {
  /** next is the next match in the order of the list, or the one before. */
  next(forward: boolean): number;
  clear(): boolean;
}

export function makeFilters(scene: Scene): Filters {
  const { world } = scene;
  const { boxes, kinds, namespaces, looks, legend } = world.payload;
  const input = need<HTMLInputElement>("search");
  const hideRest = need<HTMLInputElement>("hide-rest");
  const haystack = boxes.name.map((name, i) => {
    const kind = kinds[boxes.kind[i]!]!;
    return [kind.kind, kind.type, namespaces[boxes.namespace[i]!], name, boxes.uid[i]].join(" ").toLowerCase();
  });

  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [byLook, byKind, byNamespace] = groups.map((group) => group.ticked());
    scene.match(
      (i) =>
        words.every((word) => haystack[i]!.includes(word)) &&
        (!byLook!.size || byLook!.has(boxes.look[i]!)) &&
        (!byKind!.size || byKind!.has(boxes.kind[i]!)) &&
        (!byNamespace!.size || byNamespace!.has(boxes.namespace[i]!)),
      hideRest.checked,
    );
    need("clear").hidden = !input.value && groups.every((group) => group.ticked().size === 0);
  };

  const counts = (column: number[]) => {
    const n = new Map<number, number>();
    for (const value of column) n.set(value, (n.get(value) ?? 0) + 1);
    return n;
  };
  const choices = (column: number[], text: (value: number) => string): Choice[] =>
    [...counts(column)]
      .map(([value, count]) => ({ value, count, text: text(value) }))
      .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : a.value - b.value));
  const words = new Map(legend.map((entry) => [entry.look, entry.words]));
  const known = legend.map((entry) => entry.look);
  const groups = [
    makeGroup(
      "filter-look",
      choices(boxes.look, (v) => (looks[v] === "Plain" ? capital(visible(words.get(v) ?? "there")) : lookStyle(looks[v]!).word))
        .sort((a, b) => known.indexOf(a.value) - known.indexOf(b.value))
        .map((c) => ({ ...c, icon: () => markIcon(looks[c.value]!), title: visible(words.get(c.value) ?? "") })),
      apply,
    ),
    makeGroup("filter-kind", choices(boxes.kind, (v) => visible(kinds[v]!.type)), apply),
    makeGroup("filter-namespace", choices(boxes.namespace, (v) => visible(namespaces[v]!) || "no namespace"), apply),
  ];
  input.addEventListener("input", apply);
  hideRest.addEventListener("change", apply);

  const clear = () => {
    const some = input.value !== "" || groups.some((group) => group.ticked().size > 0);
    input.value = "";
    groups.forEach((group) => group.clear());
    apply();
    return some;
  };
  need("clear").addEventListener("click", clear);
  return {
    clear,
    next(forward) {
      const { order, position } = scene.forest;
      const from = scene.selected < 0 ? (forward ? -1 : 0) : position[scene.selected]!;
      for (let k = 1; k <= world.count; k++) {
        const i = order[(from + (forward ? k : -k) + 2 * world.count) % world.count]!;
        if (scene.matching[i] && (scene.shown[i] || (scene.restricts && scene.hidden(i)))) return i;
      }
      return -1;
    },
  };
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

interface Choice {
  value: number;
  count: number;
  text: string;
  title?: string;
  icon?: () => Element;
}

function makeGroup(id: string, choices: Choice[], changed: () => void) {
  const boxes = new Map<number, HTMLInputElement>();
  need(id).append(
    ...choices.map((choice) => {
      const box = element("input", { type: "checkbox", value: String(choice.value) });
      box.addEventListener("change", changed);
      boxes.set(choice.value, box);
      const label = element("label", { title: choice.title || undefined }, box);
      if (choice.icon) label.append(choice.icon());
      label.append(element("span", { class: "text" }, choice.text), element("span", { class: "number" }, choice.count.toLocaleString("en")));
      return label;
    }),
  );
  return {
    ticked: () => new Set([...boxes].filter(([, box]) => box.checked).map(([value]) => value)),
    clear: () => boxes.forEach((box) => (box.checked = false)),
  };
}
