// What a page shows first: what hangs, where it can be read, without what is seldom
// looked for; and the steps as chapters.
import assert from "node:assert/strict";
import { data, document, onPage, row, rows, text, written } from "./rig.mjs";

const high = { viewport: { width: 1440, height: 2400 } };
const windows = [
  ["wide", { width: 1440, height: 900 }],
  ["narrow", { width: 400, height: 800 }],
];

const isEvent = ({ label }) => label.startsWith("Event ");

for (const [name, viewport] of windows) {
  onPage(`a large plan opens on what hangs, and it can be read: ${name}`, "hanging", { viewport }, async (page) => {
    const { effects } = await document("hanging");
    const held = effects.filter((e) => e.outcome === "Blocked" && e.object.kind === "Database").map((e) => e.object.name);
    assert.equal(held.length, 5);
    const box = await page.locator("#canvas").boundingBox();
    const seen = (await written(page)).filter(({ text, x, y, size }) => held.includes(text) && x >= 0 && x < box.width && y >= 0 && y < box.height && size > 8.9);
    assert.ok(seen.length >= (name === "wide" ? 5 : 2), `only ${seen.map((s) => s.text)} can be read`);
    assert.equal(await page.evaluate(() => globalThis.document.documentElement.scrollWidth <= innerWidth), true);
  });
}

onPage("buttons show what hangs, data, and everything", "hanging", {}, async (page) => {
  const { effects } = await document("hanging");
  const { boxes } = await data(page);
  const blocked = effects.filter((e) => e.outcome === "Blocked").length;
  assert.deepEqual(await page.$$eval("#views button", (all) => all.map((b) => b.textContent)), [`Hangs${blocked}`, `Data${boxes.data.length}`]);
  const names = async () => new Set((await written(page)).filter((w) => w.size > 8.9).map((w) => w.text));
  const wanted = new Set(effects.map((e) => e.object).filter(({ kind }) => ["PersistentVolumeClaim", "Secret"].includes(kind)).map((o) => o.name));
  assert.equal(wanted.size, 6 + 15);
  for (let pressed = 0; wanted.size > 0; pressed++) {
    assert.ok(pressed < 8, `${[...wanted]} cannot be read`);
    await page.locator("#views button", { hasText: "Data" }).click();
    for (const name of await names()) wanted.delete(name);
  }
  const scale = () => page.locator("#canvas").evaluate((canvas) => canvas.__zoom.k);
  const near = await scale();
  await page.click("#fit");
  assert.ok((await scale()) < near / 2);
  await page.locator("#views button", { hasText: "Hangs" }).click();
  assert.ok((await names()).has("d1") && (await scale()) >= 0.75);
});

onPage("what is small opens as a whole", "plan", {}, async (page) => {
  const open = await page.locator("#canvas").evaluate((canvas) => ({ ...canvas.__zoom }));
  await page.click("#fit");
  assert.deepEqual(await page.locator("#canvas").evaluate((canvas) => ({ ...canvas.__zoom })), open);
  await page.locator("#views button", { hasText: "Asked about1" }).click();
  assert.ok((await written(page)).some((w) => w.text === "web" && w.size > 8.9));
});

onPage("generated objects are hidden until asked for, and Events of a namespace are not shown", "hanging", { viewport: { width: 1440, height: 9000 } }, async (page) => {
  const { boxes } = await data(page);
  const all = boxes.name.length;
  const quiet = boxes.quiet.length;
  const generated = ({ label }) => /^(EndpointSlice|ConfigMap kube-root-ca.crt)/.test(label);
  assert.equal(await text(page, "#quiet-words"), `Show ${quiet} generated`);
  assert.equal(await page.locator("#show-quiet").isChecked(), false);
  assert.equal(await text(page, "#count"), `${all - quiet} of ${all} objects, ${quiet} hidden`);
  let listed = await rows(page);
  assert.equal(listed.length, all - quiet);
  assert.ok(!listed.some(generated));
  const service = listed.find(({ label }) => label.startsWith("Service "));
  assert.equal(await row(page, service.uid).getAttribute("aria-expanded"), null, "it unfolds to nothing");

  await page.fill("#search", "kube-root-ca.crt");
  assert.equal(await text(page, "#count"), `0 of ${all} objects, 1 hidden`);
  await page.check("#show-quiet");
  assert.equal(await text(page, "#count"), `1 of ${all} objects`);
  await page.click("#clear");
  listed = await rows(page);
  assert.equal(listed.length, all);
  assert.ok(listed.some(generated));
  assert.equal(listed.filter(isEvent).length, 0);
  await page.uncheck("#show-quiet");
  assert.equal((await rows(page)).length, all - quiet);

  const hidden = boxes.uid[boxes.quiet.at(-1)];
  await page.evaluate((uid) => (location.hash = `uid=${uid}`), hidden);
  await row(page, hidden).waitFor();
  assert.equal(await page.locator("#show-quiet").isChecked(), true, "a link leads to what is hidden");
});

onPage("what is in the middle stays there when hidden objects come and go", "hanging", {}, async (page) => {
  const at = async () => (await written(page)).find((w) => w.text === "d3");
  const before = await at();
  for (const act of ["check", "uncheck"]) {
    await page[act]("#show-quiet");
    const after = await at();
    assert.ok(after && Math.abs(after.x - before.x) < 1 && Math.abs(after.y - before.y) < 1, `${act}: ${JSON.stringify([before, after])}`);
  }
});

onPage("Events that are asked about are shown", "events", high, async (page) => {
  assert.equal(await page.locator("#quiet").isHidden(), true);
  assert.equal((await rows(page)).filter(isEvent).length, 68);
});

onPage("steps are chapters, which unfold", "hanging", { viewport: { width: 1440, height: 9000 } }, async (page) => {
  const { steps } = await document("hanging");
  const listed = () =>
    page.$$eval("#steps [role=treeitem]", (all) => all.map((r) => ({ from: +r.dataset.from, to: +r.dataset.step, level: +r.ariaLevel, expanded: r.ariaExpanded, words: r.querySelector(".words").textContent })));
  const chapters = await listed();
  assert.ok(chapters.length < 40 && steps.length > 200, `${chapters.length} chapters of ${steps.length} steps`);
  assert.deepEqual(chapters.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)), steps.map((s) => s.n));
  assert.equal(chapters[0].words, "Delete Namespace pic");
  const events = chapters.find((c) => c.words === "Delete every Event in pic");
  assert.equal(events.to - events.from, 68);

  const chapter = page.locator(`#steps [data-from="${events.from}"][aria-level="1"]`);
  await chapter.locator(".fold").click();
  assert.equal((await listed()).length, chapters.length + 69);
  await page.locator(`#steps [aria-level="2"][data-step="${events.from + 1}"]`).click();
  assert.match(await text(page, "#position"), new RegExp(`^${events.from + 1} / `));
  await page.locator("#steps").focus();
  await page.keyboard.press("Enter");
  assert.equal((await listed()).length, chapters.length);
  assert.equal(await chapter.getAttribute("aria-current"), "step");

  await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#position"), new RegExp(`^${events.from + 2} / `));
  await page.keyboard.press("ArrowDown");
  const next = chapters[chapters.indexOf(events) + 1];
  assert.match(await text(page, "#position"), new RegExp(`^${next.to} / `));
  await page.keyboard.press("ArrowUp");
  assert.match(await text(page, "#position"), new RegExp(`^${events.to} / `));
  assert.equal(await page.locator("#steps").getAttribute("aria-activedescendant"), await chapter.getAttribute("id"));
  await chapter.click();
  assert.match(await text(page, "#position"), new RegExp(`^${events.to} / `));
});

for (const [name, viewport] of windows) {
  onPage(`only names are cut, and only in their middle: ${name}`, "hanging", { viewport }, async (page) => {
    const { boxes, kinds, namespaces } = await data(page);
    const given = [...boxes.name, ...namespaces, ...kinds.map((k) => k.kind), ...Object.values(boxes.note)];
    const check = async () => {
      for (const { text } of await written(page)) {
        if (!text.includes("…")) continue;
        const [head, tail] = text.split("…");
        assert.ok(given.some((name) => name.startsWith(head) && name.endsWith(tail)), `${text} is no name`);
      }
    };
    await check();
    await page.click("#fit");
    await page.locator("#canvas").focus();
    for (let i = 0; i < 14; i++) {
      await check();
      await page.keyboard.press("+");
    }
    await page.fill("#slider", "2");
    await check();
  });
}

onPage("the whole name is in the title of what is cut", "hanging", {}, async (page) => {
  await page.fill("#search", "checkout deployment");
  const item = page.locator("#objects [role=treeitem]").first();
  assert.equal(await item.getAttribute("title"), "Deployment checkout-and-payment-gateway-frontend");
  assert.equal(await item.locator(".name").textContent(), "checkout-and-payment-gateway-frontend");
});

onPage("a narrow window has the list behind a button", "hanging", { viewport: { width: 400, height: 800 } }, async (page) => {
  assert.equal(await page.locator("#objects").isVisible(), false);
  await page.click("#browse-button");
  assert.equal(await page.locator("#browse-button").getAttribute("aria-expanded"), "true");
  await page.fill("#search", "d3 database");
  await page.locator("#objects [role=treeitem]").click();
  assert.equal(await text(page, "#details-body h2"), "d3");
  await page.locator("#canvas").focus();
  await page.keyboard.press("/");
  assert.equal(await page.locator("#search").isVisible(), true);
});
