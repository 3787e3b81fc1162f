// What is printed.

import { expect } from "@playwright/test";

import { example, nodesOfEight, open, tab, test } from "./helpers";

test("paper shows the whole answer, dark on light, and nothing that can only be clicked", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, example("gpu-sharing/") + nodesOfEight(20));
  await expect(page.locator(".picture .tile").first()).toBeVisible();
  const onScreen = await page.locator(".picture .tile").count();
  expect(onScreen).toBeLessThan(170);
  await page.emulateMedia({ media: "print" });
  await expect(page.locator(".picture .tile")).toHaveCount(170);
  await expect(page.locator(".answer")).toContainText("cannot start");
  for (const hidden of [page.locator(".cm-content"), page.locator(".top"), page.getByRole("tablist"), page.getByRole("searchbox", { name: "Find" })]) {
    await expect(hidden).toBeHidden();
  }
  const sizes = await page.evaluate(() => {
    const pane = document.querySelector(".scroll");
    return { scheme: getComputedStyle(document.documentElement).colorScheme, cut: (pane?.scrollHeight ?? 0) - (pane?.clientHeight ?? 0), high: document.documentElement.scrollHeight };
  });
  expect(sizes.scheme).toBe("light");
  expect(sizes.cut).toBe(0);
  expect(sizes.high).toBeGreaterThan(2_000);
  expect((await page.pdf()).length).toBeGreaterThan(20_000);
  await page.emulateMedia({ media: "screen" });
  await expect(page.locator(".cm-content")).toBeVisible();
  await expect.poll(() => page.locator(".picture .tile").count()).toBe(onScreen);

  // Why, with its suggestions as text.
  await tab(page, "Why").click();
  await expect(page.getByRole("button", { name: "Apply" }).first()).toBeVisible();
  await page.emulateMedia({ media: "print" });
  await expect(page.getByRole("heading", { name: "Pod ml/huge-model" })).toBeVisible();
  await expect(page.locator(".suggestions").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Apply" }).first()).toBeHidden();
});
