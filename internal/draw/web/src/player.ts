// The cascade, step by step.
import { need } from "./element.ts";
import type { Scene } from "./scene.ts";
import { listSteps } from "./steps.ts";
import { counted, stepReason, stepWords } from "./words.ts";

const pace = 900; // milliseconds for a step

export interface Player {
  readonly there: boolean;
  toggle(): void;
  step(by: number): void;
}

export function makePlayer(scene: Scene, focus: (object: number) => void): Player {
  const { world, cascade } = scene;
  const last = cascade.length;
  if (last === 0) return { there: false, toggle() {}, step() {} };
  need("player").hidden = false;
  need("steps-panel").hidden = false;
  const slider = need<HTMLInputElement>("slider");
  const play = need("play");
  const ending = need("outcome");
  slider.max = String(last);
  let timer = 0;

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.setAttribute("aria-label", "Play");
    play.dataset.playing = "false";
  };
  const go = (step: number) => {
    scene.goTo(step);
    const object = cascade.at > 0 ? world.find(world.steps[cascade.at - 1]!.object) : -1;
    if (object >= 0) focus(object);
    if (cascade.at >= last) stop();
  };
  const list = listSteps(scene, (step) => {
    stop();
    go(step);
  });
  const toggle = () => {
    if (timer) return stop();
    if (scene.outcome || cascade.at >= last) go(0);
    play.setAttribute("aria-label", "Pause");
    play.dataset.playing = "true";
    timer = window.setInterval(() => go(cascade.at + 1), pace);
  };
  const step = (by: number) => {
    stop();
    go(scene.outcome ? (by > 0 ? 1 : last - 1) : cascade.at + by);
  };

  const show = () => {
    slider.value = String(scene.outcome ? last : cascade.at);
    const now = world.steps[cascade.at - 1];
    const words = scene.outcome ? "The outcome, after all steps" : now ? stepWords(now) : "Before the first step";
    need("position").textContent = scene.outcome ? counted(last, "step") : `${cascade.at.toLocaleString("en")} / ${last.toLocaleString("en")}`;
    need("step-words").textContent = words;
    need("step-words").title = words;
    need("step-why").textContent = scene.outcome || !now ? "" : stepReason(world, now);
    slider.setAttribute("aria-valuetext", scene.outcome ? words : `Step ${cascade.at} of ${last}: ${words}`);
    ending.setAttribute("aria-pressed", String(scene.outcome));
    list.refresh();
  };
  scene.listen((what) => {
    if (what === "step") show();
    else if (what === "selection") list.refresh(); // the details may have left it less room
  });
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  play.addEventListener("click", toggle);
  need("previous").addEventListener("click", () => step(-1));
  need("next").addEventListener("click", () => step(1));
  ending.addEventListener("click", () => {
    stop();
    scene.showOutcome();
  });
  show();
  return { there: true, toggle, step };
}
