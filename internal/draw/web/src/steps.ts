// The list of steps: a row for each chapter, and below an unfolded one a row for each of
// its steps.
import { makeChapters, type Chapter } from "./chapters.ts";
import { cuttable, element, need } from "./element.ts";
import { makeRows } from "./rows.ts";
import type { Scene } from "./scene.ts";
import { actorOf, chapterTitle, stepReason, stepTitle, stepWords } from "./words.ts";

const height = 52;

/** Row is a chapter, or a step of one. */
interface Row {
  chapter: Chapter;
  /** at is the step at which the picture is after it. */
  at: number;
  /** within says that the row is one of the steps of an unfolded chapter. */
  within: boolean;
}

/** listSteps shows the steps; go is called for the one that was chosen. */
export function listSteps(scene: Scene, go: (step: number) => void): { refresh(): void } {
  const { world, cascade } = scene;
  const host = need("steps");
  const chapters = makeChapters(world.steps);
  const open = new Set<Chapter>();
  let listed: Row[] = [];

  const isLong = (c: Chapter) => c.to > c.from;
  const current = () => (scene.outcome || cascade.at === 0 ? -1 : listed.findIndex((r) => isAt(r, cascade.at)));
  const isAt = (row: Row, step: number) =>
    row.within || !isLong(row.chapter) ? row.at === step : !open.has(row.chapter) && row.chapter.from <= step && step <= row.chapter.to;
  const rows = makeRows(host, height, (n) => {
    const row = listed[n]!;
    const whole = isLong(row.chapter) && !row.within;
    const words = whole ? chapterWords(row.chapter) : stepRow(row.at);
    const item = element(
      "div",
      {
        role: "treeitem",
        id: `step-row-${n}`,
        class: row.within ? "step within" : "step",
        "aria-level": row.within ? 2 : 1,
        "aria-setsize": listed.length,
        "aria-posinset": n + 1,
        "aria-expanded": whole ? String(open.has(row.chapter)) : undefined,
        "aria-current": !scene.outcome && isAt(row, cascade.at) ? "step" : undefined,
        "data-from": whole ? row.chapter.from : row.at,
        "data-step": row.at,
        title: words.title,
        "data-done": !scene.outcome && cascade.at >= row.at ? true : undefined,
      },
      element("span", { class: whole ? "n fold" : "n", "aria-hidden": whole }, whole ? (open.has(row.chapter) ? "▾" : "▸") : String(row.at)),
      element("span", { class: "words" }, ...cuttable(words.first)),
      element("span", { class: "why" }, words.second),
    );
    item.addEventListener("click", (event) => {
      if (whole && (event.target as Element).classList.contains("fold")) fold(row.chapter);
      else go(row.at);
    });
    return item;
  });

  const stepRow = (n: number) => {
    const step = world.steps[n - 1]!;
    const second = [actorOf(step), step.cause ? `after step ${step.cause}` : "", stepReason(world, step)].filter(Boolean).join(" · ");
    return { first: stepTitle(step), second, title: `${stepWords(step)}\n${second}` };
  };
  const chapterWords = (c: Chapter) => {
    const step = world.steps[c.from - 1]!;
    const first = chapterTitle(step, c);
    const number = (n: number) => n.toLocaleString("en");
    const parts = [actorOf(step), `steps ${number(c.from)}–${number(c.to)}`, c.gone > 0 && c.objects > 0 && c.gone !== c.objects && `${number(c.gone)} gone`, stepReason(world, step)];
    const second = parts.filter(Boolean).join(" · ");
    return { first, second, title: `${first}\n${second}` };
  };

  const refill = () => {
    listed = chapters.flatMap((chapter): Row[] => {
      const head = { chapter, at: chapter.to, within: false };
      if (!open.has(chapter)) return [head];
      return [head, ...Array.from({ length: chapter.to - chapter.from + 1 }, (_, i) => ({ chapter, at: chapter.from + i, within: true }))];
    });
    rows.set(listed.length);
    point();
  };
  const point = () => {
    const row = current();
    if (row >= 0) {
      rows.reveal(row);
      host.setAttribute("aria-activedescendant", `step-row-${row}`);
    } else {
      rows.refresh();
      host.removeAttribute("aria-activedescendant");
    }
  };
  const fold = (chapter: Chapter) => {
    if (!open.delete(chapter)) open.add(chapter);
    refill();
  };

  host.addEventListener("keydown", (event) => {
    const row = current();
    const to = { ArrowDown: row + 1, ArrowUp: row < 0 ? listed.length - 1 : row - 1 }[event.key];
    const chapter = listed[row]?.chapter;
    if (to !== undefined) go(listed[Math.max(0, Math.min(to, listed.length - 1))]!.at);
    else if (event.key === "Enter" && chapter && isLong(chapter)) fold(chapter);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  refill();
  return { refresh: point };
}
