// A phone: the answer first, the text one tap away, nothing off the edge.

import { type Page, expect } from "@playwright/test";

import { editor, open, podRow, settled, tab, test, tile, violations } from "./helpers";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

const side = (page: Page, name: string) => page.getByRole("navigation", { name: "What this screen shows" }).getByRole("button", { name, exact: true });

test("the answer comes first, and the text is one tap away", async ({ page }) => {
  await page.goto("./");
  await expect(page.getByRole("region", { name: "In one sentence" })).toBeInViewport();
  await expect(editor(page)).toBeHidden();
  await side(page, "Text").tap();
  await expect(editor(page)).toBeInViewport();
  await expect(podRow(page, "notebook")).toBeHidden();
  await side(page, "Answer").tap();
  // What leads to a line turns to the text.
  await podRow(page, "huge-model").getByRole("button", { name: /line \d+$/ }).first().tap();
  await expect(editor(page)).toBeFocused();
  await expect(side(page, "Text")).toHaveAttribute("aria-pressed", "true");
});

test("tapping a device scrolls nothing away", async ({ page }) => {
  await open(page);
  await settled(page);
  const device = tile(page, "gpu.example.com/node-a/gpu-1");
  await device.scrollIntoViewIfNeeded();
  const top = async () => (await device.boundingBox())?.y ?? -1;
  const before = await top();
  await device.tap();
  await expect(page.getByRole("complementary", { name: /^Device gpu-1/ })).toBeInViewport();
  await page.waitForTimeout(200);
  await expect(device).toBeInViewport();
  // It moves out from under what opens, no further.
  expect(Math.abs((await top()) - before)).toBeLessThan(350);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`every view has targets large enough, and nothing off the edge, ${colorScheme}`, async ({ page }) => {
    test.setTimeout(60_000);
    await page.emulateMedia({ colorScheme });
    await open(page);
    for (const view of ["Result", "Why", "Fit", "What-if", "Nodes", "Compare", "Time", "CEL"]) {
      await tab(page, view).tap();
      await page.waitForTimeout(300);
      const off = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect([view, off, await violations(page)]).toEqual([view, 0, []]);
    }
  });
}
