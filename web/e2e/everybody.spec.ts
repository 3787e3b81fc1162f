// For everybody: keys alone, large type, small screens, both themes, less motion.

import { type Page, expect } from "@playwright/test";

import { editor, example, open, podRow, pods, settled, tab, test, tile, violations } from "./helpers";

const VIEWS = ["Result", "Why", "Fit", "What-if", "Scores", "Compare", "Time", "CEL"];
const WINDOWS = ["Examples", "Hardware", "Files", "Share", "Settings", "Keys"];

for (const colorScheme of ["light", "dark"] as const) {
  test(`no view and no window has accessibility violations, ${colorScheme}`, async ({ page }) => {
    test.setTimeout(240_000);
    await page.emulateMedia({ colorScheme });
    await open(page);
    await page.getByRole("button", { name: "Examples" }).click();
    await page.getByRole("button", { name: "A gang in time" }).click();
    for (const view of VIEWS) {
      await tab(page, view).click();
      await settled(page);
      expect([view, await violations(page)]).toEqual([view, []]);
    }
    for (const name of WINDOWS) {
      await page.getByRole("button", { name, exact: true }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
      expect([name, await violations(page)]).toEqual([name, []]);
      await page.keyboard.press("Escape");
    }
    // With a device picked and every kind of device in sight.
    await open(page, example("taints/") + "---\n" + example("partitionable/") + "---\n" + example("consumable-capacity/"));
    await page.locator(".picture .tile").first().click();
    expect(await violations(page)).toEqual([]);
  });
}

test("all views are reached by keys alone", async ({ page }) => {
  await open(page);
  await page.locator("body").press("Alt+2");
  await expect(tab(page, "Why")).toBeFocused();
  await expect(page.getByRole("button", { name: "Apply" }).first()).toBeVisible();
  await page.locator("body").press("Alt+7");
  await expect(tab(page, "Time")).toBeFocused();
  await expect(page.getByRole("slider", { name: "Time" })).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("textbox", { name: "CEL expression" })).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await expect(tab(page, "Result")).toBeFocused();

  // Into the editor and out again.
  await page.keyboard.press("F6");
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(tab(page, "Result")).toBeFocused();

  // A search, a device, its panel.
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox", { name: "Find" })).toBeFocused();
  await page.keyboard.type("node-b gpu-2");
  await expect(page.locator(".picture .tile")).toHaveCount(1);
  for (let count = 0; count < 20 && (await page.locator(".picture .tile:focus").count()) === 0; count += 1) await page.keyboard.press("Tab");
  await expect(tile(page, "gpu.example.com/node-b/gpu-2")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: /^Device gpu-2/ })).toBeVisible();
});

test("`?` lists the keys, except where one writes or does not want it", async ({ page }) => {
  await open(page);
  await tab(page, "Result").focus();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await expect(keys).toContainText("find a device");
  await keys.getByRole("checkbox").uncheck();
  await page.keyboard.press("Escape");
  await expect(keys).toHaveCount(0);
  await tab(page, "Result").focus();
  await page.keyboard.press("?");
  await expect(keys).toHaveCount(0);
  await editor(page).press("Control+End");
  await page.keyboard.type("?");
  await expect(keys).toHaveCount(0);
  await expect(editor(page)).toContainText("?");
});

test("Escape closes what lies beside the answer, wherever the focus is", async ({ page }) => {
  await open(page);
  await tile(page, "gpu.example.com/node-a/gpu-1").click();
  const panel = page.getByRole("complementary", { name: /^Device gpu-1/ });
  await expect(panel).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await page.getByRole("button", { name: "Show me around" }).click();
  const tour = page.getByRole("complementary", { name: "A tour of the page" });
  await expect(tour).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(tour).toHaveCount(0);
});

/** What is wider than the window, other than what scrolls by itself. */
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test("at 200 % zoom and at phone width everything is there, one below the other", async ({ page }) => {
  for (const [width, height] of [[680, 430], [360, 740]] as const) {
    await page.setViewportSize({ width, height });
    await open(page);
    for (const view of VIEWS) {
      await tab(page, view).click();
      await settled(page);
      expect([width, view, await overflow(page)]).toEqual([width, view, 0]);
    }
    await tab(page, "Result").click();
    await expect(podRow(page, "notebook")).toContainText("node-a");
    await page.getByRole("button", { name: "Examples" }).click();
    await expect(page.getByRole("dialog")).toBeInViewport();
    expect(await overflow(page)).toBe(0);
    await page.keyboard.press("Escape");
  }
  expect(await violations(page)).toEqual([]);
});

test("nothing moves by itself for those who want less motion", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page);
  const moving = await page.evaluate(() => document.getAnimations().filter(({ effect }) => Number(effect?.getComputedTiming().duration ?? 0) > 0).length);
  expect(moving).toBe(0);
  const transitions = await page.evaluate(() =>
    [...document.querySelectorAll("*")].filter((element) => getComputedStyle(element).transitionDuration.split(",").some((time) => parseFloat(time) > 0)).length,
  );
  expect(transitions).toBe(0);
});

test("a crash of the worker is told, and the next change recovers", async ({ page }) => {
  await page.addInitScript(() => {
    const workers: Worker[] = [];
    const Original = Worker;
    Object.assign(globalThis, { workers });
    globalThis.Worker = class extends Original {
      constructor(...parameters: ConstructorParameters<typeof Worker>) {
        super(...parameters);
        workers.push(this);
      }
    };
  });
  await open(page, example("life/cluster.yaml"));
  await page.evaluate(() => {
    const { workers } = globalThis as unknown as { workers: Worker[] };
    workers.at(-1)?.onerror?.(new ErrorEvent("error", { message: "out of memory" }));
  });
  await editor(page).press("Control+End");
  await page.keyboard.type("\n# more\n");
  await settled(page);
  await expect(pods(page)).toBeVisible();
  expect(await page.evaluate(() => (globalThis as unknown as { workers: Worker[] }).workers.length)).toBe(2);
});
