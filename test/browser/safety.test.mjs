// Names that mean harm, and pages that are large, dark, printed, or without a script.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { colours, document, onPage, pages, pixel, row, rows, showQuiet, text } from "./rig.mjs";

const high = { viewport: { width: 1440, height: 2400 } };

/** unseen are characters that a reader does not see, or that turn a line around. */
const unseen = /(?![ \n])[\p{C}\p{Z}]/u;

for (const name of ["hostile", "hostile-plan"]) {
  onPage(`hostile names are text: ${name}`, name, high, async (page) => {
    const before = await page.evaluate(() => globalThis.document.querySelectorAll("script, iframe, img, object, embed, link, base, form").length);
    const listed = await rows(page);
    assert.ok(listed.length >= 5);
    for (const { uid, label } of listed) {
      assert.doesNotMatch(label, unseen);
      await page.locator(`#objects [aria-posinset="${listed.findIndex((r) => r.uid === uid) + 1}"]`).click();
      assert.doesNotMatch(await text(page, "#details-body"), unseen);
    }
    assert.ok(listed.some((r) => r.label.includes("</script>")), "the name that closes a script is not listed");
    assert.ok(listed.some((r) => r.label.includes("\\u202e")), "the name that turns lines around is not shown as what it is");
    await page.fill("#search", "<img");
    await page.keyboard.press("Enter");
    assert.ok((await text(page, "#details-body")).includes("no commands are offered"));
    assert.equal(await page.evaluate(() => globalThis.owned), undefined);
    const after = await page.evaluate(() => globalThis.document.querySelectorAll("script, iframe, img, object, embed, link, base, form").length);
    assert.equal(after, before);
    assert.doesNotMatch(await page.title(), unseen);
  });
}

onPage("the policy forbids what is not embedded", "cluster", { mayLog: /Content Security Policy/ }, async (page) => {
  const policy = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'$/);
  const refused = await page.evaluate(
    () =>
      new Promise((resolve) => {
        addEventListener("securitypolicyviolation", (e) => resolve(e.effectiveDirective), { once: true });
        const script = globalThis.document.createElement("script");
        script.textContent = "globalThis.owned = true";
        globalThis.document.body.append(script);
      }),
  );
  assert.match(refused, /^script-src/);
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
});

/** measure says how large a page is, of so many MiB at the most, and how fast it was there. */
async function measure(page, t, name, what, most) {
  const { size } = await stat(`${pages}/${name}.html`);
  assert.ok(size <= most << 20, `the page has ${size} bytes`);
  const { drawn, paint } = await page.evaluate(() => ({
    drawn: performance.getEntriesByName("drawn")[0].startTime,
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
  }));
  t.diagnostic(`measured: ${what}: ${(size / 1e6).toFixed(2)} MB, first contentful paint ${Math.round(paint)} ms, drawn ${Math.round(drawn)} ms`);
}

for (const [name, least] of [["many-10000-plan", 10_000], ["many-50000-plan", 50_000]]) {
  onPage(`the delete of ${least.toLocaleString("en")} objects, step by step`, name, {}, async (page, t) => {
    const { effects, steps } = await document(name);
    assert.ok(effects.length >= least && steps.length > effects.length, `only ${effects.length} effects in ${steps.length} steps`);
    await measure(page, t, name, `a plan of ${effects.length} effects in ${steps.length} steps`, 12);
    const { object } = steps.find((step) => step.verb === "REMOVED");
    await page.fill("#search", object.uid);
    await row(page, object.uid).waitFor();
    const look = () => row(page, object.uid).getAttribute("data-look");
    for (const [step, wanted] of [[steps.length, "Gone"], [0, "Plain"], [steps.findIndex((s) => s.verb === "REMOVED") + 1, "Gone"]]) {
      await page.fill("#slider", String(step));
      assert.equal(await text(page, "#position"), `${step.toLocaleString("en")} / ${steps.length.toLocaleString("en")}`);
      assert.equal(await look(), wanted, `after step ${step}`);
    }
  });
}

for (const [name, least] of [["many-10000", 10_000], ["many-50000", 50_000]]) {
  onPage(`${least.toLocaleString("en")} objects`, name, {}, async (page, t) => {
    await showQuiet(page);
    const graph = await document(name);
    assert.ok(graph.nodes.length >= least, `only ${graph.nodes.length} objects`);
    const opened = new RegExp(`^\\d+ of ${graph.nodes.length.toLocaleString("en")} objects, the others in groups$`);
    assert.match(await text(page, "#count"), opened);
    assert.ok((await rows(page)).length < 100, "rows that nobody sees are elements");
    assert.ok((await colours(page)) > 3, "hardly anything is drawn");
    await measure(page, t, name, `${graph.nodes.length} objects`, 4);

    const { ref } = graph.nodes.at(-1);
    await page.fill("#search", ref.uid);
    assert.equal(await text(page, "#count"), `1 of ${graph.nodes.length.toLocaleString("en")} objects`);
    await page.keyboard.press("Enter");
    assert.equal(await text(page, "#details-body h2"), ref.name);
    await page.check("#hide-rest");
    await row(page, ref.uid).waitFor();
    await page.click("#clear");
    assert.match(await text(page, "#count"), opened);
    await page.locator("#canvas").hover();
    for (const by of [-3000, -3000, 9000]) await page.mouse.wheel(0, by);
    await page.keyboard.press("0");
    assert.ok((await colours(page)) > 3);
  });
}

onPage("dark and light, also when it changes", "cluster", { colorScheme: "dark" }, async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor.match(/\d+/g).map(Number));
  assert.deepEqual((await pixel(page, 3, 3)).slice(0, 3), await ground());
  assert.ok((await ground()).every((c) => c < 60));
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => globalThis.document.getElementById("canvas").getContext("2d").getImageData(3, 3, 1, 1).data[0] > 200);
  assert.deepEqual((await pixel(page, 3, 3)).slice(0, 3), await ground());
});

onPage("on paper there is the whole drawing, and the steps", "plan", { colorScheme: "dark" }, async (page) => {
  const { steps } = await document("plan");
  const pdf = await page.pdf({ format: "A4", landscape: true });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 20_000, `a PDF of ${pdf.length} bytes has no drawing`);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#sheet ol li").count(), steps.length);
  assert.ok((await colours(page, "#sheet canvas")) > 8);
  assert.equal(await page.locator("#canvas").isVisible(), false);
  const ground = await page.locator("#sheet canvas").evaluate((c) => c.getContext("2d").getImageData(1, 1, 1, 1).data[0]);
  assert.ok(ground > 200, "a dark ground costs ink");
});

onPage("without scripts there is a still picture", "plan", { javaScriptEnabled: false }, async (page) => {
  const box = await page.locator("noscript img").boundingBox();
  assert.ok(box && box.width > 100 && box.height > 100, "no picture");
  assert.equal(await page.locator("#player").isVisible(), false);
});

onPage("a narrow window keeps the drawing", "plan", { viewport: { width: 600, height: 900 } }, async (page) => {
  const box = await page.locator("#canvas").boundingBox();
  assert.ok(box.width >= 590 && box.height >= 200);
  assert.equal(await page.evaluate(() => globalThis.document.documentElement.scrollWidth <= 600), true);
});
