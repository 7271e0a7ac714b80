// What to look at first. A drawing of thousands of objects says nothing when all of it is
// on the screen: the page opens where text can be read, on what hangs, then on data, then
// on what was asked about.
import type { Camera } from "./camera.ts";
import { element, need } from "./element.ts";
import { atOnce } from "./piles.ts";
import type { Scene } from "./scene.ts";
import { counted } from "./words.ts";

interface Group {
  word: string;
  title: string;
  objects: number[];
}

/** makeViews fills the bar above the drawing, and opens the drawing. */
export function makeViews(scene: Scene, camera: Camera): void {
  const groups = groupsOf(scene).filter((group) => group.objects.length > 0);
  need("views").append(...groups.map((group) => viewButton(scene, camera, group)));
  need("fit").addEventListener("click", camera.fit);
  bindQuiet(scene, camera);
  camera.open(groups.map((group) => group.objects));
}

/** groupsOf lists what matters, first what matters most. */
function groupsOf(scene: Scene): Group[] {
  const { looks, payload } = scene.world;
  const { boxes } = payload;
  const having = (...wanted: string[]) => [...boxes.look.keys()].filter((i) => wanted.includes(looks[boxes.look[i]!]!));
  const blocked = having("Blocked");
  const hangs = new Set(blocked);
  const asked = (boxes.targets ?? []).filter((i) => !hangs.has(i));
  return [
    { word: "Hangs", title: "Show what is not deleted", objects: blocked },
    { word: "Being deleted", title: "Show what is being deleted", objects: blocked.length > 0 ? [] : having("WaitingForDependents", "BeingDeleted") },
    { word: "Data", title: "Show the data that goes, or may go", objects: boxes.data ?? [] },
    { word: "Asked about", title: "Show what was asked about, and does not hang", objects: asked },
  ];
}

/** viewButton shows as many of a group as can be read at once; pressed again, the next ones. */
function viewButton(scene: Scene, camera: Camera, group: Group): HTMLElement {
  let left: number[] = [];
  const button = element("button", { type: "button", title: group.title }, group.word, element("span", { class: "number" }, group.objects.length.toLocaleString("en")));
  button.addEventListener("click", () => {
    if (left.length === 0) left = group.objects;
    scene.reveal(left.slice(0, scene.world.payload.boxes.pile ? atOnce : undefined));
    const seen = camera.frame([left]);
    left = left.filter((i) => !seen.has(i));
  });
  return button;
}

/** bindQuiet is the switch of what is seldom looked for. */
function bindQuiet(scene: Scene, camera: Camera): void {
  const { kinds, payload } = scene.world;
  const quiet = payload.boxes.quiet ?? [];
  if (quiet.length === 0) return;
  const events = quiet.filter((i) => kinds[payload.boxes.kind[i]!] === "Event").length;
  const rest = quiet.length - events;
  const parts = [events > 0 && counted(events, "Event"), rest > 0 && `${rest.toLocaleString("en")} generated`];
  const box = need<HTMLInputElement>("show-quiet");
  need("quiet").hidden = false;
  need("quiet-words").textContent = `Show ${parts.filter(Boolean).join(", ")}`;
  box.addEventListener("change", () => camera.steady(() => scene.showQuiet(box.checked)));
  scene.listen(() => (box.checked = scene.quietShown));
}
