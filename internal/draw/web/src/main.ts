// The page: puts together what the other files make.
import { bindBrowse } from "./browse.ts";
import { makeCamera } from "./camera.ts";
import { showDetails } from "./details.ts";
import { payload } from "./document.ts";
import { describeBox, draw } from "./draw.ts";
import { need } from "./element.ts";
import { makeFilters } from "./filters.ts";
import { bindKeys } from "./keys.ts";
import { followLinks } from "./link.ts";
import { makeMinimap } from "./minimap.ts";
import { listObjects } from "./objects.ts";
import { makePlayer } from "./player.ts";
import { preparePrint } from "./print.ts";
import { makeScene } from "./scene.ts";
import { readTheme } from "./theme.ts";
import { makeViews } from "./views.ts";
import { makeWorld } from "./world.ts";

async function start(): Promise<void> {
  const scene = makeScene(makeWorld(await payload()));
  const canvas = need<HTMLCanvasElement>("canvas");
  const context = canvas.getContext("2d", { alpha: false })!;
  let theme = readTheme();
  let drawn = false;

  let wanted = 0; // the frame that was asked for
  let stale = true; // the minimap shows something else
  const paint = () => {
    wanted = 0;
    draw(context, scene, camera.view, theme);
    if (stale) minimap.redraw(theme);
    else minimap.frame(theme);
    stale = false;
    if (drawn) return;
    drawn = true;
    performance.mark("drawn");
    document.documentElement.dataset.drawn = "true";
  };
  const redraw = () => void (wanted ||= requestAnimationFrame(paint));
  const camera = makeCamera(canvas, scene, redraw);
  const minimap = makeMinimap(need<HTMLCanvasElement>("minimap"), scene, camera);

  const follow = (object: number) => {
    scene.select(object);
    if (object >= 0 && scene.shown[object]) camera.show(object);
  };
  const chosen = (object: number) => {
    if (object >= 0 && !scene.pileOf(object)) scene.reveal([object]);
    follow(object);
  };
  const found = (object: number) => {
    if (object >= 0) scene.reveal([object]);
    follow(object);
  };
  listObjects(scene, chosen, found);
  showDetails(scene, found);
  const filters = makeFilters(scene);
  const player = makePlayer(scene, follow);
  scene.listen((what) => {
    stale ||= what !== "selection";
    redraw();
  });
  makeViews(scene, camera);
  followLinks(scene, found);
  bindKeys(scene, camera, filters, player, chosen, found);
  bindBrowse();
  need("left").textContent = scene.world.payload.left ?? "";
  preparePrint(scene);

  canvas.addEventListener("click", (event) => chosen(scene.grid.at(...camera.plane(event))));
  canvas.addEventListener("dblclick", (event) => {
    const box = scene.grid.at(...camera.plane(event));
    if (box >= 0) camera.steady(() => scene.unfold(box));
  });
  canvas.addEventListener("mousemove", (event) => {
    const box = scene.grid.at(...camera.plane(event));
    canvas.title = box < 0 ? "" : describeBox(scene, box);
    canvas.style.cursor = box < 0 ? "" : "pointer";
  });
  need("zoom-in").addEventListener("click", () => camera.zoomBy(1.4));
  need("zoom-out").addEventListener("click", () => camera.zoomBy(1 / 1.4));
  need("details-close").addEventListener("click", () => chosen(-1));
  new ResizeObserver(() => {
    if (camera.resize()) paint(); // at once: a canvas of a new size is empty
  }).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    theme = readTheme();
    stale = true;
    redraw();
  });
}

start().catch((error: unknown) => {
  const failure = need("failure");
  failure.hidden = false;
  failure.textContent = `The page cannot be shown: ${String(error)}`;
});
