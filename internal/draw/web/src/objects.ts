// All objects as a tree of text: what the canvas shows, for whoever cannot see it, and
// for whoever would rather read.
import { cuttable, element, need } from "./element.ts";
import { lookStyle, markIcon } from "./looks.ts";
import { makeRows } from "./rows.ts";
import type { Scene } from "./scene.ts";
import { pileKind, pileLabel, pileName, pileWords } from "./pile_words.ts";
import { counted } from "./words.ts";
import { kindOf, nameOf, namespaceOf } from "./world.ts";

const height = 30;

export function listObjects(scene: Scene, chosen: (object: number) => void, found: (object: number) => void): void {
  const { world, forest } = scene;
  const quiet = world.payload.boxes.quiet ?? [];
  const host = need("objects");
  let listed: number[] = [];
  const rowOf = new Int32Array(world.count);

  const rows = makeRows(host, height, (row) => {
    const i = listed[row]!;
    const look = world.looks[scene.lookOf(i)]!;
    const namespace = namespaceOf(world, i);
    const pile = scene.restricts ? undefined : scene.pileOf(i);
    const name = pile ? pileName(scene, pile) : nameOf(world, i);
    const folded = pile !== undefined || scene.collapsed.has(i);
    const folds = pile !== undefined || scene.below(i) > 0;
    const item = element(
      "div",
      {
        role: "treeitem",
        id: `object-${i}`,
        class: "row",
        "aria-level": forest.level[i]! + 1,
        "aria-setsize": listed.length,
        "aria-posinset": row + 1,
        "aria-selected": scene.selected === i ? "true" : "false",
        "aria-expanded": folds ? String(!folded) : undefined,
        "aria-label": [
          name,
          ...(pile ? pileWords(scene, pile) : []),
          namespace && `namespace ${namespace}`,
          lookStyle(look).word,
          !pile && folds && folded && `${counted(scene.below(i), "object")} folded away`,
        ]
          .filter(Boolean)
          .join(", "),
        "data-uid": world.payload.boxes.uid[i]!,
        "data-look": look,
        title: name,
      },
      element("span", { class: "fold", "aria-hidden": "true" }, folds ? (folded ? "▸" : "▾") : ""),
      markIcon(look),
      element("span", { class: "kind", "aria-hidden": "true" }, pile ? pileKind(scene, pile) : kindOf(world, i)),
      element("span", { class: "name", "aria-hidden": "true" }, ...cuttable(pile ? pileLabel(scene, pile) : world.names[i]!)),
    );
    item.style.paddingLeft = `${8 + Math.min(forest.level[i]!, 12) * 14}px`;
    item.addEventListener("click", (event) => {
      if ((event.target as Element).classList.contains("fold")) scene.unfold(i);
      else (scene.restricts ? found : chosen)(i);
    });
    return item;
  });

  const refill = () => {
    listed = [...forest.order].filter((i) => (scene.shown[i] || (scene.restricts && scene.hidden(i))) && scene.matching[i]);
    rowOf.fill(-1);
    listed.forEach((i, row) => (rowOf[i] = row));
    rows.set(listed.length);
    const all = counted(world.count, "object");
    const hidden = scene.quietShown ? 0 : quiet.filter((i) => scene.matching[i]).length;
    const grouped = !scene.restricts && world.payload.boxes.pile && listed.some((i) => scene.pileOf(i)) ? ", the others in groups" : "";
    const more = grouped + (hidden > 0 ? `, ${hidden.toLocaleString("en")} hidden` : "");
    need("count").textContent = (listed.length === world.count ? all : `${listed.length.toLocaleString("en")} of ${all}`) + more;
  };
  const point = () => {
    const i = scene.selected;
    if (i >= 0 && rowOf[i]! >= 0) {
      rows.reveal(rowOf[i]!);
      host.setAttribute("aria-activedescendant", `object-${i}`);
    } else {
      rows.refresh();
      host.removeAttribute("aria-activedescendant");
    }
  };
  scene.listen((what) => {
    if (what === "shown" || what === "matches") refill();
    else if (what === "selection") point();
    else rows.refresh();
  });
  refill();

  host.addEventListener("keydown", (event) => {
    const row = rowOf[scene.selected] ?? -1;
    const page = Math.max(1, Math.floor(host.clientHeight / height) - 1);
    const to = { Home: 0, End: listed.length - 1, PageUp: Math.max(0, row - page), PageDown: Math.min(listed.length - 1, row + page) }[event.key];
    if (to === undefined || listed.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    chosen(listed[to]!);
  });
}
