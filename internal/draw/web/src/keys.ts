// What the keys do.
import { browse } from "./browse.ts";
import type { Camera } from "./camera.ts";
import { need } from "./element.ts";
import type { Filters } from "./filters.ts";
import type { Player } from "./player.ts";
import type { Scene } from "./scene.ts";

export function bindKeys(scene: Scene, camera: Camera, filters: Filters, player: Player, chosen: (object: number) => void, found: (object: number) => void): void {
  const search = need<HTMLInputElement>("search");
  const help = need<HTMLDialogElement>("help");
  const showHelp = () => (help.open ? help.close() : help.showModal());
  need("help-button").addEventListener("click", showHelp);
  need("help-close").addEventListener("click", () => help.close());

  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const next = filters.next(!event.shiftKey);
    if (next >= 0) found(next);
  });

  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (help.open && event.key !== "?") return;
    const target = event.target as HTMLElement;
    const typing = target === search;
    if (event.key === "Escape") {
      if (typing && search.value === "") search.blur();
      else if (typing || scene.selected < 0) filters.clear();
      else chosen(-1);
      return;
    }
    if (typing) return;
    const inPlayer = target.closest("#player, #steps-panel") !== null;
    const act = action(event.key, target, inPlayer);
    if (!act) return;
    event.preventDefault();
    act();
  });

  const action = (key: string, target: HTMLElement, inPlayer: boolean): (() => unknown) | undefined => {
    switch (key) {
      case "/":
        return () => {
          browse(true);
          search.focus();
          search.select();
        };
      case "?":
        return showHelp;
      case " ":
        return player.there && !target.closest("button, input, summary, label") ? player.toggle : undefined;
      case ",":
        return () => player.step(-1);
      case ".":
        return () => player.step(1);
      case "+":
      case "=":
        return () => camera.zoomBy(1.4);
      case "-":
        return () => camera.zoomBy(1 / 1.4);
      case "0":
        return camera.fit;
      case "n":
        return () => go(filters.next(true));
      case "N":
        return () => go(filters.next(false));
      case "Enter":
        return scene.selected >= 0 && !target.closest("button, input, summary, label, a")
          ? () => camera.steady(() => scene.unfold(scene.selected))
          : undefined;
      case "ArrowLeft":
      case "ArrowRight":
        if (inPlayer) return () => player.step(key === "ArrowLeft" ? -1 : 1);
        return () => go(key === "ArrowLeft" ? owner() : dependent());
      case "ArrowUp":
      case "ArrowDown":
        if (inPlayer || target.closest("input, summary")) return undefined;
        return () => go(filters.next(key === "ArrowDown"));
      default:
        return undefined;
    }
  };
  const go = (object: number) => object >= 0 && (scene.restricts ? found : chosen)(object);
  const { arrows } = scene.world.payload;
  const owner = () => {
    const i = scene.selected;
    if (i < 0) return filters.next(true);
    if (scene.forest.size[i]! > 0 && scene.forest.above[i]! < 0 && !scene.collapsed.has(i)) return -1;
    return scene.forest.above[i]!;
  };
  const dependent = () => {
    const i = scene.selected;
    if (i < 0) return filters.next(true);
    if (scene.pileOf(i)) {
      scene.unfold(i);
      return i;
    }
    if (scene.collapsed.has(i)) scene.collapse(i, false);
    const first = scene.world.dependents[i]![0];
    return first === undefined ? -1 : arrows.dependent[first]!;
  };
}
