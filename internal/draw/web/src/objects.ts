// All objects as a tree of text: what the canvas shows, for whoever cannot see it, and
// for whoever would rather read.
import { cuttable, element, need } from "./element.ts";
import { lookStyle, markIcon } from "./looks.ts";
import { makeRows } from "./rows.ts";
import type { Scene } from "./scene.ts";
import { counted } from "./words.ts";
import { kindOf, nameOf, namespaceOf } from "./world.ts";

const height = 30;

export function listObjects(scene: Scene, chosen: (object: number) => void): void {
  const { world, forest } = scene;
  const quiet = world.payload.boxes.quiet ?? [];
  const host = need("objects");
  let listed: number[] = [];
  const rowOf = new Int32Array(world.count);

  const rows = makeRows(host, height, (row) => {
    const i = listed[row]!;
    const look = world.looks[scene.lookOf(i)]!;
    const namespace = namespaceOf(world, i);
    const folds = scene.below(i) > 0;
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
        "aria-expanded": folds ? String(!scene.collapsed.has(i)) : undefined,
        "aria-label": [
          nameOf(world, i),
          namespace && `namespace ${namespace}`,
          lookStyle(look).word,
          folds && scene.collapsed.has(i) && `${counted(scene.below(i), "object")} folded away`,
        ]
          .filter(Boolean)
          .join(", "),
        "data-uid": world.payload.boxes.uid[i]!,
        "data-look": look,
        title: nameOf(world, i),
      },
      element("span", { class: "fold", "aria-hidden": "true" }, folds ? (scene.collapsed.has(i) ? "▸" : "▾") : ""),
      markIcon(look),
      element("span", { class: "kind", "aria-hidden": "true" }, kindOf(world, i)),
      element("span", { class: "name", "aria-hidden": "true" }, ...cuttable(world.names[i]!)),
    );
    item.style.paddingLeft = `${8 + Math.min(forest.level[i]!, 12) * 14}px`;
    item.addEventListener("click", (event) => {
      if ((event.target as Element).classList.contains("fold")) scene.collapse(i, !scene.collapsed.has(i));
      else chosen(i);
    });
    return item;
  });

  const refill = () => {
    listed = [...forest.order].filter((i) => scene.shown[i] && scene.matching[i]);
    rowOf.fill(-1);
    listed.forEach((i, row) => (rowOf[i] = row));
    rows.set(listed.length);
    const all = counted(world.count, "object");
    const hidden = scene.quietShown ? 0 : quiet.filter((i) => scene.matching[i]).length;
    const more = hidden > 0 ? `, ${hidden.toLocaleString("en")} hidden` : "";
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
