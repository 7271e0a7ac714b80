// The address says what is shown: #uid=… and &step=….
import type { Scene } from "./scene.ts";

export function followLinks(scene: Scene, chosen: (object: number) => void): void {
  const { boxes } = scene.world.payload;
  const read = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const uid = wanted.get("uid");
    const object = uid ? scene.world.findUID(uid) : -1;
    const step = wanted.get("step");
    if (step !== null && /^\d{1,9}$/.test(step) && scene.cascade.length > 0) scene.goTo(Number(step));
    if (object >= 0 && (object !== scene.selected || scene.pileOf(object))) chosen(object);
  };
  const write = () => {
    const now = new URLSearchParams();
    if (scene.selected >= 0 && boxes.uid[scene.selected]) now.set("uid", boxes.uid[scene.selected]!);
    if (!scene.outcome) now.set("step", String(scene.cascade.at));
    const hash = now.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  };
  read();
  scene.listen((what) => {
    if (what === "selection" || what === "step") write();
  });
  addEventListener("hashchange", read);
}
