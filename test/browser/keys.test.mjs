// Without a mouse, and without a screen.
import assert from "node:assert/strict";
import { document, onPage, row, rows, text } from "./rig.mjs";

const high = { viewport: { width: 1440, height: 2400 } };
const focused = (page) => page.evaluate(() => globalThis.document.activeElement.id);
const name = (page) => text(page, "#details-body h2");

onPage("arrows lead from object to object", "plan", high, async (page) => {
  const plan = await document("plan");
  const [root, set] = ["Deployment", "ReplicaSet"].map((kind) => plan.effects.find((e) => e.object.kind === kind).object);
  await row(page, root.uid).click();
  await page.locator("#objects").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await name(page), set.name);
  await page.keyboard.press("ArrowRight");
  const pod = await name(page);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await name(page), pod);
  await page.keyboard.press("ArrowUp");
  assert.equal(await name(page), pod);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await name(page), root.name);
  await page.keyboard.press("End");
  const listed = await rows(page);
  assert.equal(await page.locator("#objects").getAttribute("aria-activedescendant"), await row(page, listed.at(-1).uid).getAttribute("id"));
  await page.keyboard.press("Home");
  assert.equal(await row(page, listed[0].uid).getAttribute("aria-selected"), "true");
});

onPage("slash, Escape and the question mark", "plan", high, async (page) => {
  await page.locator("#canvas").focus();
  await page.keyboard.press("/");
  assert.equal(await focused(page), "search");
  await page.keyboard.type("pod ?/ ");
  assert.equal(await page.locator("#search").inputValue(), "pod ?/ ", "keys act while somebody types");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#search").inputValue(), "");
  await page.keyboard.press("Escape");
  assert.notEqual(await focused(page), "search");
  await page.keyboard.press("?");
  assert.equal(await page.locator("#help").isVisible(), true);
  assert.ok((await text(page, "#help")).includes("play or pause"));
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#help").isVisible(), false);
});

onPage("steps with keys", "plan", high, async (page) => {
  await page.locator("#canvas").focus();
  await page.keyboard.press(".");
  await page.keyboard.press(".");
  assert.match(await text(page, "#position"), /^2 /);
  await page.keyboard.press(",");
  assert.match(await text(page, "#position"), /^1 /);
  await page.locator("#slider").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#position"), /^2 /);
  await page.locator("#steps").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  assert.match(await text(page, "#position"), /^3 /);
});

onPage("zoom with keys", "cluster", high, async (page) => {
  const scale = () => page.locator("#canvas").evaluate((canvas) => canvas.__zoom.k);
  const fit = await scale();
  await page.locator("#canvas").focus();
  await page.keyboard.press("+");
  assert.ok((await scale()) > fit);
  await page.keyboard.press("-");
  await page.keyboard.press("-");
  assert.ok((await scale()) < fit);
  await page.keyboard.press("0");
  assert.equal(await scale(), fit);
});

onPage("links: the address says what is shown", "plan", { ...high, hash: "#uid=00000224-0000-4000-8000-000000000000&step=5" }, async (page) => {
  const plan = await document("plan");
  assert.match(await name(page), /^web-5d47c484f4$/);
  assert.equal(await text(page, "#position"), `5 / ${plan.steps.length}`);
  await page.keyboard.press("Escape");
  assert.doesNotMatch(page.url(), /uid=/);
  const pod = plan.effects.find((e) => e.object.kind === "Pod").object;
  await page.evaluate((uid) => (location.hash = `uid=${uid}`), pod.uid);
  await row(page, pod.uid).and(page.locator("[aria-selected=true]")).waitFor();
  assert.equal(await name(page), pod.name);
});

onPage("links to nothing change nothing", "plan", { hash: "#uid=nobody&step=-1e9" }, async (page) => {
  assert.equal(await page.locator("#details").isHidden(), true);
  assert.equal(await page.locator("#outcome").getAttribute("aria-pressed"), "true");
});

onPage("a screen reader is told what the drawing shows", "plan", high, async (page) => {
  const plan = await document("plan");
  const tree = page.locator("#objects");
  assert.equal(await tree.getAttribute("role"), "tree");
  const [root, set, pod] = ["Deployment", "ReplicaSet", "Pod"].map((kind) => plan.effects.find((e) => e.object.kind === kind).object);
  const all = await rows(page);
  for (const [object, level] of [[root, 1], [set, 2], [pod, 3]]) {
    const item = row(page, object.uid);
    assert.equal(await item.getAttribute("role"), "treeitem");
    assert.equal(await item.getAttribute("aria-level"), String(level));
    assert.equal(await item.getAttribute("aria-setsize"), String(all.length));
    assert.equal(await item.getAttribute("aria-posinset"), String(all.findIndex((r) => r.uid === object.uid) + 1));
    assert.equal(await item.getAttribute("aria-label"), `${object.kind} ${object.name}, namespace shop, Deleted`);
  }
  const live = page.locator("[aria-live=polite]", { has: page.locator("#step-words") });
  assert.equal(await live.count(), 1);
  await page.locator("#next").click();
  assert.match(await live.innerText(), /^You delete Deployment web/);
  assert.match(await row(page, root.uid).getAttribute("aria-label"), /, Waiting for dependents$/);
  const unnamed = await page.$$eval("button, input, canvas:not([aria-hidden]), [role=tree], [role=list]", (all) =>
    all.filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label"))).map((e) => e.outerHTML));
  assert.deepEqual(unnamed, []);
});

onPage("nothing moves for those who do not want it", "plan", { reducedMotion: "reduce" }, async (page) => {
  const moving = await page.$$eval("*", (all) => all.filter((e) => parseFloat(getComputedStyle(e).transitionDuration) > 0).length);
  assert.equal(moving, 0);
});
