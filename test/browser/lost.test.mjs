// The page of what was lost: without a script, on any width, in both themes.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { document, onPage, pages, text } from "./rig.mjs";

for (const name of ["lost-60", "lost-5000"]) {
  for (const [where, options] of [
    ["wide", {}],
    ["narrow and dark", { viewport: { width: 400, height: 800 }, colorScheme: "dark" }],
    ["without scripts", { javaScriptEnabled: false }],
  ]) {
    onPage(`what was lost, ${where}: ${name}`, name, options, async (page) => {
      assert.match(await text(page, "h1"), /^ns\/payments was deleted at 14:02:31 UTC, and \d+ objects with it/);
      const lane = page.locator("#request-3");
      const moments = await lane.locator("li:visible").count();
      assert.ok(moments > 10 && moments < 80, `${moments} moments`);
      const folded = lane.locator("li summary").first();
      await folded.click();
      assert.ok((await lane.locator("tbody tr:visible").count()) > 1, "the objects are not listed");
      if (options.javaScriptEnabled !== false) {
        assert.equal(await page.evaluate(() => globalThis.document.documentElement.scrollWidth - globalThis.innerWidth), 0);
      }
    });
  }

  onPage(`what goes in the ordinary course is asked for: ${name}`, name, {}, async (page) => {
    const { summary, losses } = await document(name);
    assert.ok((await text(page, ".switch")).includes(`(${summary.routine})`));
    assert.equal(await page.locator(".routine:visible").count(), 0);
    await page.check("#show-routine");
    assert.ok((await page.locator("#controllers-usual li:visible").count()) > 0);
    const named = await page.evaluate(() => globalThis.document.body.textContent);
    for (const { object } of losses) assert.ok(named.includes(object.name), `${object.name} is not in the page`);
    const { size } = await stat(`${pages}/${name}.html`);
    assert.ok(size < 1 << 20, `the page has ${size} bytes`);
  });
}
