// Finding objects, and what is said of them.
import assert from "node:assert/strict";
import { colours, data, document, onPage, row, rows, showQuiet, spot, text } from "./rig.mjs";

const high = { viewport: { width: 1440, height: 2400 } };

onPage("the list has every object of the graph, owners first", "cluster", high, async (page) => {
  await showQuiet(page);
  const graph = await document("cluster");
  const listed = await rows(page);
  assert.equal(await text(page, "#count"), `${graph.nodes.length} objects`);
  assert.deepEqual(listed.map((r) => r.uid).sort(), graph.nodes.map((n) => n.ref.uid).sort());
  const at = new Map(listed.map((r, i) => [r.uid, i]));
  for (const { dependent } of graph.edges) {
    const owners = graph.edges.filter((e) => e.dependent === dependent).map((e) => at.get(e.owner));
    assert.ok(Math.min(...owners) < at.get(dependent), `${dependent} is listed before its owners`);
  }
  assert.ok((await colours(page)) > 8, "hardly anything is drawn");
});

onPage("a click on a box says what is known of the object", "plan", {}, async (page) => {
  const plan = await document("plan");
  const set = plan.effects.find((e) => e.object.kind === "ReplicaSet");
  const at = await spot(page, set.object.uid);
  await page.mouse.click(at.x, at.y);
  const said = await text(page, "#details-body");
  assert.equal(await text(page, "#details-body h2"), set.object.name);
  for (const part of ["ReplicaSet in shop", "Deleted", set.message, set.reason, "Owners", "Deployment web", "Dependents (3)"]) {
    assert.ok(said.includes(part), `the panel lacks ${part}:\n${said}`);
  }
  assert.match(page.url(), new RegExp(`#uid=${set.object.uid}$`));
  assert.equal(await row(page, set.object.uid).getAttribute("aria-selected"), "true");
  await page.mouse.click(at.x, at.y - 200);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#details").isHidden(), true);
});

onPage("owners and dependents lead to each other", "plan", high, async (page) => {
  const plan = await document("plan");
  const [root, set] = ["Deployment", "ReplicaSet"].map((kind) => plan.effects.find((e) => e.object.kind === kind).object);
  await row(page, root.uid).click();
  await page.locator("#details-body .link", { hasText: set.name }).click();
  assert.equal(await text(page, "#details-body h2"), set.name);
  await page.locator("#details-body .link", { hasText: "Deployment web" }).click();
  assert.equal(await text(page, "#details-body h2"), "web");
});

onPage("finalizers and what holds an object are said", "collect", high, async (page) => {
  const plan = await document("collect");
  const held = plan.effects.find((e) => e.outcome === "Blocked");
  await row(page, held.object.uid).click();
  const said = await text(page, "#details-body");
  for (const part of ["Blocked", "Finalizers", held.blockedBy.finalizers[0], `finalizer ${held.blockedBy.finalizers[0]}`]) {
    assert.ok(said.includes(part), `the panel lacks ${part}:\n${said}`);
  }
});

onPage("an explanation says what would change it, of its object only", "explained", high, async (page) => {
  const explanation = await document("explained");
  await row(page, explanation.object.uid).click();
  const said = await text(page, "#details-body");
  assert.ok(explanation.remedies.length > 1 && explanation.waitsFor.length > 0);
  for (const part of ["What it ultimately waits for", explanation.waitsFor[0].message, "What would change it"]) {
    assert.ok(said.includes(part), `the panel lacks ${part}:\n${said}`);
  }
  const lines = await page.$$eval(".command code", (all) => all.map((code) => code.textContent));
  for (const { command, effect } of explanation.remedies) {
    assert.ok(lines.includes(command), `${command} cannot be copied: ${lines}`);
    assert.ok(said.includes(effect), `what ${command} does is not said`);
  }
  const other = (await rows(page)).find((r) => r.uid !== explanation.object.uid);
  await row(page, other.uid).click();
  assert.equal((await text(page, "#details-body")).includes("What would change it"), false);
});

onPage("commands can be copied", "plan", high, async (page) => {
  const plan = await document("plan");
  await row(page, plan.seed.targets[0].uid).click();
  const lines = await page.$$eval(".command code", (all) => all.map((code) => code.textContent));
  assert.deepEqual(lines, [
    "kubectl get deploy/web -n shop -o yaml",
    "kubectl describe deploy/web -n shop",
    "kubectl gc explain deploy/web -n shop --from examples/shop.yaml",
    "kubectl gc dry-run delete deploy/web -n shop --from examples/shop.yaml",
  ]);
  await page.locator(".command .copy").nth(2).click();
  await page.locator(".command .copy", { hasText: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), lines[2]);
});

onPage("the search finds by name, kind, namespace and uid", "cluster", high, async (page) => {
  await showQuiet(page);
  const { nodes } = await document("cluster");
  const matches = (...words) =>
    nodes.filter(({ ref }) => words.every((w) => [ref.kind, ref.namespace ?? "", ref.name, ref.uid].join(" ").toLowerCase().includes(w))).length;
  for (const [typed, words] of [["web", ["web"]], ["POD shop", ["pod", "shop"]], [nodes[7].ref.uid, [nodes[7].ref.uid]], ["nothing-is-called-so", ["nothing-is-called-so"]]]) {
    await page.fill("#search", typed);
    const n = matches(...words);
    assert.equal((await rows(page)).length, n, typed);
    assert.equal(await text(page, "#count"), `${n} of ${nodes.length} objects`);
  }
  await page.fill("#search", "replicaset");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "#details-body h2"), /^web-/);
  await page.click("#clear");
  assert.equal((await rows(page)).length, nodes.length);
});

onPage("filters by state, kind and namespace", "plan", high, async (page) => {
  const { boxes, kinds, looks } = await data(page);
  const count = (test) => boxes.name.filter((_, i) => test(i)).length;
  const deleted = count((i) => looks[boxes.look[i]] === "Deleted");
  const pods = count((i) => looks[boxes.look[i]] === "Deleted" && kinds[boxes.kind[i]].kind === "Pod");
  assert.ok(0 < pods && pods < deleted);

  await page.locator("#filter-look label", { hasText: "Deleted" }).click();
  assert.equal((await rows(page)).length, deleted);
  await page.locator("summary", { hasText: "Kind" }).click();
  await page.locator("#filter-kind label", { hasText: /^pod/ }).click();
  assert.equal((await rows(page)).length, pods);
  await page.locator("summary", { hasText: "Namespace" }).click();
  await page.locator("#filter-namespace label", { hasText: "shop" }).click();
  assert.equal((await rows(page)).length, pods);

  const before = await colours(page, "#minimap");
  await page.check("#hide-rest");
  assert.equal((await rows(page)).length, pods);
  assert.ok(before > 0);
  await page.keyboard.press("Escape");
  assert.equal((await rows(page)).length, boxes.name.length);
});

onPage("a subtree is folded and unfolded", "cluster", high, async (page) => {
  await showQuiet(page);
  const { nodes, edges } = await document("cluster");
  const root = nodes.find((n) => n.ref.kind === "Deployment").ref.uid;
  const below = new Set([root]);
  for (let size = 0; size !== below.size; ) {
    size = below.size;
    for (const { owner, dependent } of edges) if (below.has(owner)) below.add(dependent);
  }
  const folded = nodes.length - (below.size - 1);
  const expanded = () => row(page, root).getAttribute("aria-expanded");

  await row(page, root).click();
  await page.click("#fold");
  assert.equal((await rows(page)).length, folded);
  assert.equal(await expanded(), "false");
  assert.match(await row(page, root).getAttribute("aria-label"), /4 objects folded away$/);
  await page.click("#fold");
  assert.equal((await rows(page)).length, nodes.length);

  const at = await spot(page, root);
  await page.mouse.dblclick(at.x, at.y);
  assert.equal((await rows(page)).length, folded);
  await row(page, root).locator(".fold").click();
  assert.equal(await expanded(), "true");

  // What is folded away unfolds when a link leads to it.
  const last = [...below].at(-1);
  await page.locator("#objects").focus();
  await page.keyboard.press("Enter");
  assert.equal((await rows(page)).length, folded);
  await page.evaluate((uid) => (location.hash = `uid=${uid}`), last);
  await row(page, last).waitFor();
  assert.equal(await row(page, last).getAttribute("aria-selected"), "true");
});
