// The tabs that ask what the command line asks: Fit, What-if, Nodes, Compare.

import { expect } from "@playwright/test";

import { example, open, settled, tab, test, tile, violations } from "./helpers";

const TOUR = example("gpu-sharing/");

test("Fit counts how many more there is room for", async ({ page }) => {
  await open(page, TOUR);
  await tab(page, "Fit").click();
  await page.getByRole("combobox", { name: "How many more of" }).selectOption("ml/small-gpu");
  await expect(page.getByRole("region", { name: "Fit" })).toContainText(/^\d+( to \d+)? more of ml\/small-gpu fit\. What runs out: /);
  await expect(page.getByRole("rowheader", { name: "node-a" })).toBeVisible();
  await page.getByRole("combobox", { name: "How many more of" }).selectOption("gpu.example.com");
  await page.getByRole("spinbutton", { name: "Devices per claim" }).fill("2");
  await page.getByRole("spinbutton", { name: "Devices per claim" }).press("Tab");
  await expect(page.getByRole("region", { name: "Fit" })).toContainText("more of gpu.example.com fit");
});

test("What-if: a node is clicked and removed, both pictures stand side by side, and it is taken back", async ({ page }) => {
  await open(page, TOUR);
  await tab(page, "What-if").click();
  const before = page.getByRole("region", { name: "As it is" });
  const after = page.getByRole("region", { name: "With the changes" });
  await before.locator('[data-node="node-a"] .title').click();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await expect(after.locator('[data-node="node-b"]')).toHaveCount(1);
  await expect(after.locator('[data-node="node-a"]')).toHaveCount(0);
  await expect(before.locator('[data-node="node-a"]')).toHaveCount(1);
  await expect(page.getByRole("table", { name: "Pods" })).toContainText("node-a");
  expect(await violations(page)).toEqual([]);

  // A device, and one more node, without the first deed.
  await page.getByRole("button", { name: "Take back: remove node-a" }).click();
  await expect(after).toHaveCount(0);
  await tile(page, "gpu.example.com/node-b/gpu-2").click();
  await page.getByRole("button", { name: "Taint", exact: true }).click();
  await expect(after.locator(".tile.tainted")).not.toHaveCount(0);
  await page.getByRole("combobox", { name: "Node", exact: true }).selectOption("node-c");
  await page.getByRole("button", { name: "Add one like it" }).click();
  await expect(after.locator("[data-node]")).toHaveCount(4);
  // A whole node, with a taint of one's own.
  await before.locator('[data-node="node-a"] .title').click();
  await page.getByRole("combobox", { name: "Taint" }).fill("broken");
  await page.getByRole("button", { name: "Taint its devices" }).click();
  await expect(page.getByRole("alert")).toContainText("broken is not a taint");
  await page.getByRole("combobox", { name: "Taint" }).fill("example.com/hot:NoExecute");
  await page.getByRole("button", { name: "Taint its devices" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(after.locator('[data-key*="/node-a/"].tainted')).toHaveCount(3);
  await page.getByRole("button", { name: "Take back all" }).click();
  await expect(after).toHaveCount(0);
});

test("Scores shows for each node what is against its devices, and how nodes compare", async ({ page }) => {
  await open(page, TOUR);
  await tab(page, "Scores").click();
  await expect(page.getByRole("combobox", { name: "Pod or claim" })).toHaveValue("Pod ml/huge-model");
  const table = page.locator(".matrix");
  await expect(table.getByRole("columnheader", { name: "selector false" })).toBeVisible();
  await expect(table.getByRole("rowheader", { name: "node-a" })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  // Of a Pod that has a place, what the scheduler's plugins think of the nodes.
  await page.getByRole("combobox", { name: "Pod or claim" }).selectOption("Pod ml/notebook");
  await expect(table.getByRole("columnheader", { name: /^TaintToleration/ })).toBeVisible();
  await expect(table.getByRole("rowheader")).toHaveText(["node-a", "node-c"]);
  expect(await violations(page)).toEqual([]);
});

test("Compare: versions side by side, and another text", async ({ page }) => {
  test.setTimeout(60_000);
  await open(page, TOUR);
  await tab(page, "Compare").click();
  const versions = page.getByRole("table", { name: "Kubernetes 1.34 to 1.38" });
  await expect(versions.getByRole("columnheader")).toHaveText(["newest, every gate on", "1.38 (preview)", "1.37", "1.36", "1.35", "1.34"]);
  await expect(versions.getByRole("row", { name: /^Pods placed/ })).toContainText("9 of 10");
  expect(await violations(page)).toEqual([]);
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("another text");
  await page.getByRole("textbox", { name: "The other text" }).fill(TOUR.replaceAll("192Gi", "16Gi"));
  await expect(page.getByRole("rowheader", { name: "ml/huge-model" }).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "The other" }).locator(".tile")).toHaveCount(10);
  await settled(page);
  expect(await violations(page)).toEqual([]);
});
