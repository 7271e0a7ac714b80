// A page of very many objects opens with groups, which open on demand.
import assert from "node:assert/strict";
import { document, onPage, row, rows, text, written } from "./rig.mjs";

const high = { viewport: { width: 1440, height: 9000 } };
const group = /^Group ReplicaSet ×([\d,]+), /;
const number = (words) => Number(words.replaceAll(",", ""));
const groupOf = (listed) => listed.find(({ label }) => group.test(label));
const members = (listed) => number(group.exec(groupOf(listed).label)[1]);

onPage("what is large opens in groups, and can be read", "fleet", {}, async (page) => {
  const { nodes } = await document("fleet");
  const all = nodes.length.toLocaleString("en");
  assert.match(await text(page, "#count"), new RegExp(`^\\d+ of ${all} objects, the others in groups$`));
  const words = (await written(page)).filter(({ size }) => size > 6).map((w) => w.text);
  const count = nodes.filter(({ ref }) => ref.kind === "ReplicaSet").length;
  const told = words.map((word) => Number(/^ReplicaSet ×(\d+)$/.exec(word)?.[1])).filter((n) => n > 0);
  assert.ok(told.length === 1 && told[0] > count / 2 && told[0] < count, `${words}`);
});

onPage("what is remarkable is not hidden, and groups say what is in them", "fleet", high, async (page) => {
  const { nodes } = await document("fleet");
  const going = nodes.filter((n) => n.beingDeleted);
  const listed = await rows(page);
  const alone = listed.filter(({ look, label }) => look === "BeingDeleted" && !label.startsWith("Group "));
  assert.ok(alone.length > 0 && alone.length < going.length);
  const [, below] = /([\d,]+) objects below, of these/.exec(groupOf(listed).label);
  const [, hidden] = /of these ([\d,]+) being deleted/.exec(groupOf(listed).label);
  assert.ok(number(below) > number(hidden));
  const grouped = listed.filter(({ look, label }) => look === "BeingDeleted" && label.startsWith("Group "));
  assert.equal(alone.length + number(hidden) + grouped.reduce((n, { label }) => n + number(/×([\d,]+)/.exec(label)[1]), 0), going.length);
});

for (const [how, open] of [
  ["a double click", async (page, uid) => {
    await row(page, uid).click();
    const at = await page.locator("#canvas").evaluate((canvas) => {
      const written = globalThis.written.find(({ text }) => text.startsWith("ReplicaSet ×"));
      const box = canvas.getBoundingClientRect();
      const ratio = canvas.width / box.width;
      return { x: box.left + written.x / ratio + 4, y: box.top + written.y / ratio + 4 };
    });
    await page.mouse.dblclick(at.x, at.y);
  }],
  ["its sign in the list", (page, uid) => row(page, uid).locator(".fold").click()],
  ["Enter", async (page, uid) => {
    await row(page, uid).click();
    await page.locator("#objects").focus();
    await page.keyboard.press("Enter");
  }],
  ["the button beside it", async (page, uid) => {
    await row(page, uid).click();
    assert.match(await text(page, "#details-body"), /^ReplicaSet ×/);
    await page.click("#open");
  }],
]) {
  onPage(`${how} opens a group`, "fleet", high, async (page) => {
    const before = await rows(page);
    const { uid } = groupOf(before);
    assert.equal(await row(page, uid).getAttribute("aria-expanded"), "false");
    await open(page, uid);
    await row(page, uid).waitFor();
    await page.locator("#objects").evaluate((list) => (list.scrollTop = list.scrollHeight));
    await page.locator("#objects [aria-label^='Group ReplicaSet']").waitFor();
    assert.equal(members(await rows(page)), members(before) - 100);
  });
}

onPage("the search finds what is in a group, and puts it back on demand", "fleet", high, async (page) => {
  const { nodes } = await document("fleet");
  const before = (await rows(page)).length;
  const { ref } = nodes.filter((n) => n.ref.kind === "ReplicaSet" && !n.beingDeleted).at(-1);
  assert.equal(await row(page, ref.uid).count(), 0, "it is in a group");
  await page.fill("#search", `${ref.name} replicaset`);
  assert.equal((await rows(page)).length, 1);
  await page.keyboard.press("Enter");
  assert.equal(await text(page, "#details-body h2"), ref.name);
  await page.click("#clear");
  await row(page, ref.uid).waitFor();
  assert.ok((await rows(page)).length > before);
  await page.click("#close");
  assert.ok((await rows(page)).length <= before);
  assert.match(await text(page, "#details-body"), /ReplicaSet/);
});

onPage("a link leads into a group", "fleet", high, async (page) => {
  const { nodes } = await document("fleet");
  const { ref } = nodes.filter((n) => n.ref.kind === "Pod").at(-1);
  assert.equal(await row(page, ref.uid).count(), 0, "it is in a group");
  await page.evaluate((uid) => (location.hash = `uid=${uid}`), ref.uid);
  await row(page, ref.uid).waitFor();
  assert.equal(await text(page, "#details-body h2"), ref.name);
});
