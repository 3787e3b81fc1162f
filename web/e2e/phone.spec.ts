// A phone: the answer first, the text one tap away, nothing off the edge.

import { type Page, expect } from "@playwright/test";

import { editor, nodesOfEight, open, podRow, settled, tab, test, tile, violations } from "./helpers";

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

test("two fingers go from level to level, about the node between them, and leave the page's size alone", async ({ page }) => {
  await open(page, nodesOfEight(120));
  await settled(page);
  const session = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", points: readonly { x: number; y: number }[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: [...points] });
  /** Two fingers, one above the other, from one distance to another. */
  const pinch = async (x: number, y: number, from: number, to: number) => {
    const at = (distance: number) => [{ x, y: y - distance / 2 }, { x, y: y + distance / 2 }];
    await touch("touchStart", at(from));
    for (let step = 1; step <= 6; step += 1) await touch("touchMove", at(from + ((to - from) * step) / 6));
    await touch("touchEnd", []);
  };
  const level = page.getByRole("group", { name: "Level" });
  const square = page.getByRole("button", { name: /^node-90: / });
  await square.scrollIntoViewIfNeeded();
  const middle = async () => {
    const box = await square.boundingBox();
    return { x: (box?.x ?? 0) + 8, y: (box?.y ?? 0) + 8 };
  };
  const { x, y } = await middle();
  await pinch(x, y, 60, 96);
  await expect(level.getByRole("button", { name: "Pools" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator('.picture [data-node="node-90"]')).toBeInViewport();
  await pinch(195, y, 60, 96);
  await expect(level.getByRole("button", { name: "Devices" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator('.picture [data-node="node-90"]')).toBeInViewport();
  await pinch(195, 500, 200, 60);
  await expect(page.locator(".heatmap")).toBeVisible();
  expect(await page.evaluate(() => window.visualViewport?.scale)).toBe(1);
});

/** How far the page or its answer goes off the edge. */
const off = (page: Page) => page.evaluate(() =>
  Math.max(...[document.documentElement, document.getElementById("panel") ?? document.body].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)),
);

test("on a narrow screen beside the text nothing goes off the edge", async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 860 });
  await open(page);
  for (const view of ["Result", "Why", "Fit", "What-if", "Scores", "Compare", "Time", "CEL"]) {
    await tab(page, view).click();
    await settled(page);
    expect([view, await off(page)]).toEqual([view, 0]);
  }
});

test("names in tables and lanes are readable", async ({ page }) => {
  await open(page);
  await tab(page, "Scores").tap();
  // A cell is no narrower than its longest word.
  const node = page.getByRole("table").getByRole("columnheader", { name: "Usable" });
  await expect(node).toBeVisible();
  const lines = (cell: Element) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
  };
  expect(await node.evaluate(lines)).toBe(1);
  expect(await page.getByRole("rowheader", { name: "node-a" }).evaluate(lines)).toBe(1);
  await tab(page, "CEL").tap();
  await expect(page.locator(".values th small").first()).toBeVisible();
  // Names of drivers break behind their dots, if anywhere.
  const pieces = (cells: Element[]) => cells.flatMap((cell) => [...cell.childNodes].map((piece) => {
    const range = document.createRange();
    range.selectNodeContents(piece);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  }));
  expect(new Set(await page.locator(".values th small").evaluateAll(pieces))).toEqual(new Set([0, 1]));
  await tab(page, "Result").tap();
  expect(new Set(await page.locator("#pods td .muted:has(wbr)").evaluateAll(pieces))).toEqual(new Set([0, 1]));
  await tab(page, "Fit").tap();
  await expect(page.getByRole("table").first()).toBeVisible();
  // Numbers of a column end at one edge, whatever their length.
  const ends = await page.locator("td.number").evaluateAll((cells) => {
    const end = (cell: Element) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return Math.round(range.getBoundingClientRect().right - cell.getBoundingClientRect().right);
    };
    return [...new Set(cells.map(end))];
  });
  expect(ends).toHaveLength(1);
  await tab(page, "Time").tap();
  const lane = page.locator(".lanes .owner").first();
  await expect(lane).toBeVisible();
  expect((await lane.boundingBox())?.height).toBeGreaterThan(9);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`every view has targets large enough, and nothing off the edge, ${colorScheme}`, async ({ page }) => {
    test.setTimeout(60_000);
    await page.emulateMedia({ colorScheme });
    await open(page);
    for (const view of ["Result", "Why", "Fit", "What-if", "Scores", "Compare", "Time", "CEL"]) {
      await tab(page, view).tap();
      await page.waitForTimeout(300);
      expect([view, await off(page), await violations(page)]).toEqual([view, 0, []]);
    }
  });
}
