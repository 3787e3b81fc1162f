// Time and the CEL lab.

import { expect } from "@playwright/test";

import { example, open, settled, tab, test, tile } from "./helpers";

test("a life is stepped through, played, and changed by hand", async ({ page }) => {
  await open(page, example("life/cluster.yaml"));
  await tab(page, "Time").click();
  const standing = page.getByRole("region", { name: "How things stand" });
  await expect(standing).toContainText("3 of 3 Pods placed, 2 of 2 claims allocated, 2 nodes");
  const events = page.getByRole("region", { name: "What happens" });
  await expect(events.getByRole("row", { name: /Pod ml\/trainer-0 placed on node-a/ })).toBeVisible();

  // By hand: a node is lost after a minute.
  await page.getByRole("combobox", { name: "What is done" }).selectOption({ label: "lose node" });
  await page.getByRole("combobox", { name: "To what" }).selectOption("node-a");
  await page.getByRole("textbox", { name: "At" }).fill("1m");
  await page.getByRole("button", { name: "Add to the script" }).click();
  await expect(page.getByRole("textbox", { name: "Script" })).toHaveValue('- at: 1m\n  removeNode: "node-a"\n');
  await expect(events.getByRole("row", { name: /Node node-a gone/ })).toBeVisible();

  // The end of the range is the end of what happens; then nobody is left.
  await page.getByRole("slider", { name: "Time" }).press("End");
  await expect(standing).toContainText("1 node");
  await page.getByRole("slider", { name: "Time" }).press("Home");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Play", exact: true })).toBeVisible({ timeout: 15_000 });
});

test("what a script does to the hardware is in the picture of its time", async ({ page }) => {
  await open(page, example("life/cluster.yaml"));
  await tab(page, "Time").click();
  const held = page.locator(".picture .tile.held").first();
  const key = (await held.getAttribute("data-key")) ?? "";
  await page.getByRole("combobox", { name: "What is done" }).selectOption({ label: "taint device" });
  await page.getByRole("combobox", { name: "To what" }).selectOption(key);
  await page.getByRole("textbox", { name: "At" }).fill("1m");
  await page.getByRole("button", { name: "Add to the script" }).click();
  await page.getByRole("button", { name: "1m", exact: true }).first().click();
  await expect(tile(page, key)).toHaveClass(/tainted/);
  await page.getByRole("slider", { name: "Time" }).press("Home");
  await expect(tile(page, key)).not.toHaveClass(/tainted/);

  await page.getByRole("combobox", { name: "What is done" }).selectOption({ label: "lose node" });
  await page.getByRole("combobox", { name: "To what" }).selectOption("node-a");
  await page.getByRole("textbox", { name: "At" }).fill("2m");
  await page.getByRole("button", { name: "Add to the script" }).click();
  await page.getByRole("button", { name: "2m", exact: true }).first().click();
  await expect(page.locator(".picture")).not.toContainText("node-a");
});

test("claims are generated, allocated, reserved, released and deallocated in time", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: "A gang in time" }).click();
  const events = page.getByRole("region", { name: "What happens" });
  await page.getByRole("checkbox", { name: "every write" }).check();
  for (const words of [/trainers-gpu-\w+ created/, /trainers-gpu-\w+ allocated/, /trainers-gpu-\w+ reserved/, /notebook-gpu-\w+ released/, /notebook-gpu-\w+ gives back/]) {
    await expect(events.getByRole("row", { name: words }).first()).toBeVisible();
  }
  await events.getByRole("button", { name: "2m30s" }).first().click();
  await page.getByRole("heading", { name: /^How things stand/ }).scrollIntoViewIfNeeded();
  await expect(tile(page, "gpu.example.com/node-a/gpu-1")).toContainText("free");
  await page.getByRole("slider", { name: "Time" }).press("Home");
  await expect(tile(page, "gpu.example.com/node-a/gpu-1")).toContainText("notebook-gpu");
});

test("a script that cannot be read says why", async ({ page }) => {
  await open(page, example("life/cluster.yaml"));
  await tab(page, "Time").click();
  await page.getByText("Script", { exact: true }).click();
  await page.getByRole("textbox", { name: "Script" }).fill("- at: soon\n  delete: pod/trainer-0\n");
  await expect(page.getByRole("alert")).toContainText("`at` is a duration".replaceAll("`", ""));
});

test("an expression has value, type, cost and parts on every device", async ({ page }) => {
  await open(page, example("gpu-sharing/"));
  await tab(page, "CEL").click();
  await page.getByRole("textbox", { name: "CEL expression" }).fill(`device.driver == "gpu.example.com" && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`);
  await expect(page.getByText("false on 6 devices, true on 4 devices")).toBeVisible();
  const parts = page.getByRole("region", { name: "Parts on" });
  await expect(parts.getByRole("row", { name: /^device\.driver "gpu\.example\.com" string/ })).toBeVisible();
  await expect(parts).toContainText(/Cost: \d+, at most \d+/);
  const values = page.getByRole("table", { name: "Devices" });
  await expect(values.getByRole("row")).toHaveCount(11);
  await values.getByRole("button", { name: "nic-0" }).first().click();
  await expect(parts).toContainText("nic.example.com");

  await page.getByRole("textbox", { name: "CEL expression" }).fill("device.driver ==");
  await expect(page.getByRole("alert")).toContainText("Syntax error");
  await page.getByRole("combobox", { name: "Take" }).selectOption({ index: 1 });
  await settled(page);
  await expect(page.getByRole("alert")).toHaveCount(0);

  // The field can be emptied; then there is no answer.
  await page.getByRole("textbox", { name: "CEL expression" }).fill("");
  await settled(page);
  await expect(page.getByRole("textbox", { name: "CEL expression" })).toHaveValue("");
  await expect(values).toHaveCount(0);
});
