// The cascade, step by step.
import assert from "node:assert/strict";
import { document, onPage, rows, showQuiet, text } from "./rig.mjs";

const high = { viewport: { width: 1440, height: 2400 } };

/** states is what each step makes of each object, told anew from the plan. */
function states(plan, first) {
  const now = new Map(Object.entries(first));
  const all = [new Map(now)];
  for (const { verb, policy, answer = 0, object } of plan.steps) {
    const these =
      verb === "DELETECOLLECTION"
        ? plan.effects.map((e) => e.object).filter((o) => o.kind === object.kind && o.namespace === object.namespace).map((o) => o.uid)
        : [object.uid];
    for (const uid of these) {
      if (!now.has(uid) || now.get(uid) === "Gone" || answer >= 400) continue;
      const was = now.get(uid);
      if (verb === "REMOVED") now.set(uid, "Gone");
      else if (verb.startsWith("DELETE")) now.set(uid, policy === "Foreground" || was === "WaitingForDependents" ? "WaitingForDependents" : "BeingDeleted");
      else if (verb !== "GET" && was === "Plain") now.set(uid, "Changed");
    }
    all.push(new Map(now));
  }
  return all;
}

const shown = async (page) => new Map((await rows(page)).map((r) => [r.uid, r.look]));

/** press clicks a button, and tells what is there then, in one go: there are many steps. */
const press = (page, button) =>
  page.evaluate((button) => {
    const { document } = globalThis;
    document.querySelector(button)?.click();
    const said = (selector) => document.querySelector(selector)?.innerText;
    return {
      looks: [...document.querySelectorAll("#objects [role=treeitem]")].map((row) => [row.dataset.uid, row.dataset.look]),
      current: { ...document.querySelector("#steps [aria-current=step]")?.dataset },
      position: said("#position"),
      words: said("#step-words"),
    };
  }, button);

for (const name of ["plan", "collect", "namespace", "orphan"]) {
  onPage(`every step of ${name} shows what the plan says`, name, high, async (page) => {
    await showQuiet(page);
    const plan = await document(name);
    const slider = page.locator("#slider");
    await slider.fill("0");
    const first = Object.fromEntries(await shown(page));
    assert.ok(Object.values(first).every((look) => ["Plain", "BeingDeleted", "WaitingForDependents", "Absent"].includes(look)));
    const want = states(plan, first);
    assert.equal(want.length, plan.steps.length + 1);
    assert.ok(plan.steps.length > 3);
    const check = (step, { looks, position }) => {
      assert.deepEqual(new Map(looks), want[step], `after step ${step}`);
      assert.equal(position, `${step} / ${plan.steps.length}`);
    };
    for (let step = 1; step <= plan.steps.length; step++) {
      const now = await press(page, "#next");
      check(step, now);
      assert.ok(now.current.from <= step && step <= now.current.step, `step ${step} is not in ${now.current.from} to ${now.current.step}`);
      const { object } = plan.steps[step - 1];
      assert.ok(now.words.includes(object.name || object.kind), now.words);
    }
    for (const step of [plan.steps.length - 1, 1, 0, Math.floor(plan.steps.length / 2)]) {
      await slider.fill(String(step));
      check(step, await press(page, "#no-button"));
    }
    await page.locator("#outcome").click();
    const end = await shown(page);
    for (const e of plan.effects) assert.equal(end.get(e.object.uid), e.outcome, e.object.name);
  });
}

onPage("the steps are words", "plan", high, async (page) => {
  await page.locator("#steps [data-step='1']").click();
  assert.equal(await text(page, "#step-words"), "You delete Deployment web in the foreground");
  assert.equal(await text(page, "#step-why"), "you ask for it");
  await page.locator("#steps [data-step='2']").click();
  assert.match(await text(page, "#step-words"), /^Garbage collector deletes ReplicaSet web-\w+ in the foreground$/);
  assert.equal(await page.locator("#slider").getAttribute("aria-valuetext"), `Step 2 of 15: ${await text(page, "#step-words")}`);
  assert.match(page.url(), /step=2$/);
});

onPage("play goes on by itself, and stops at the end", "plan", { ...high, clock: true }, async (page) => {
  const { steps } = await document("plan");
  await page.locator("#canvas").focus();
  await page.keyboard.press("Space");
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Pause");
  await page.clock.runFor(2 * 900 + 100);
  assert.equal(await text(page, "#position"), `2 / ${steps.length}`);
  await page.keyboard.press("Space");
  await page.clock.runFor(5000);
  assert.equal(await text(page, "#position"), `2 / ${steps.length}`);
  await page.locator("#play").click();
  await page.clock.runFor(60_000);
  assert.equal(await text(page, "#position"), `${steps.length} / ${steps.length}`);
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Play");
});

onPage("a graph has no player", "cluster", {}, async (page) => {
  assert.equal(await page.locator("#player").isHidden(), true);
  assert.equal(await page.locator("#steps-panel").isHidden(), true);
});
