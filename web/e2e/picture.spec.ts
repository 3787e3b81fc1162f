// The picture: devices with their holders, found, picked, and gone through by keys.

import { readFileSync } from "node:fs";

import { expect } from "@playwright/test";

import { editor, example, nodesOfEight, open, settled, status, test, tile, violations } from "./helpers";

const TOUR = example("gpu-sharing/");

test("two groups of Pods share one claim each, on different devices", async ({ page }) => {
  await open(page, example("groups/shared-claim.yaml"));
  const chips = page.getByRole("list", { name: "Claims that hold devices" }).getByRole("button");
  await expect(chips).toHaveCount(2);
  await expect(chips.nth(0)).toContainText("2 Pods of PodGroup blue");
  await expect(chips.nth(1)).toContainText("2 Pods of PodGroup red");
  const held = page.locator(".picture .tile.held");
  await expect(held).toHaveCount(2);
  const keys = await held.evaluateAll((tiles) => tiles.map((tile) => (tile as SVGElement).dataset.key));
  expect(new Set(keys).size).toBe(2);
  const names = await held.evaluateAll((tiles) => tiles.map((tile) => tile.querySelector("title")?.textContent));
  expect(names.join()).toMatch(/held by jobs\/blue.*held by jobs\/red/);

  // Each group has one line to its claim, in the claim's colour; a picked claim has a thicker one.
  await expect(page.getByRole("list", { name: "PodGroups and Pods" }).getByRole("listitem")).toHaveText(["PodGroup blue 2 Pods", "PodGroup red 2 Pods"]);
  await expect(page.getByRole("list", { name: "Claims that they use" }).getByRole("listitem")).toHaveCount(2);
  const lines = page.locator(".links path");
  await expect(lines).toHaveCount(2);
  const colours = await lines.evaluateAll((paths) => paths.map((path) => getComputedStyle(path).stroke));
  expect(new Set(colours).size).toBe(2);
  await chips.nth(1).click();
  await expect(page.locator(".links path.picked")).toHaveCount(1);
});

test("a claim that waits for devices has a broken line", async ({ page }) => {
  await open(page, example("groups/shared-claim.yaml").replace(/deviceClassName: \S+/g, "deviceClassName: none"));
  await expect(page.locator(".links path.open")).toHaveCount(await page.locator(".links path").count());
  await expect(page.getByRole("list", { name: "Claims that they use" })).toContainText("not allocated");
  await expect(page.locator(".links path.open").first()).toHaveCSS("stroke-dasharray", "4px, 4px");
});

test("picking a device shows it and selects its lines, and the cursor picks back", async ({ page }) => {
  await open(page, TOUR);
  await tile(page, "gpu.example.com/node-b/gpu-2").click();
  const panel = page.getByRole("complementary", { name: /^Device gpu-2/ });
  await expect(panel).toContainText("Held by");
  await expect(panel).toContainText("memory = 24Gi");
  const line = TOUR.split("\n").findIndex((line, index, lines) => line.includes("name: gpu-2") && lines.slice(0, index).some((line) => line.includes("name: node-b"))) + 1;
  await expect(panel.getByRole("button", { name: `line ${line}`, exact: true })).toBeVisible();
  await expect(page.locator(".cm-selectionBackground").first()).toBeVisible();
  await expect(page.locator(".cm-activeLine")).toContainText("name: gpu-2");

  // A click on another device's line picks that device.
  await page.locator(".cm-line", { hasText: /^\s*- name: gpu-3/ }).first().click();
  await expect(page.getByRole("complementary", { name: /^Device gpu-3/ })).toBeVisible();
  await expect(tile(page, "gpu.example.com/node-b/gpu-3")).toHaveAttribute("aria-pressed", "true");
});

test("a claim is picked from the legend, and devices are filtered by text, claim and class", async ({ page }) => {
  await open(page, TOUR);
  const tiles = page.locator(".picture .tile");
  await expect(tiles).toHaveCount(10);
  await page.getByRole("button", { name: /^team-gpu/ }).click();
  await expect(tile(page, "gpu.example.com/node-a/gpu-0")).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("searchbox", { name: "Find" }).fill("nic");
  await expect(tiles).toHaveCount(2);
  await page.getByRole("searchbox", { name: "Find" }).press("Enter");
  await expect(page.getByRole("complementary", { name: /^Device nic-0/ })).toBeVisible();
  await page.getByRole("searchbox", { name: "Find" }).fill("");
  await page.getByRole("combobox", { name: "Class" }).selectOption("nic.example.com");
  await expect(tiles).toHaveCount(2);
  await page.getByRole("combobox", { name: "Class" }).selectOption("");
  await page.getByRole("combobox", { name: "Claim" }).selectOption("ml/team-gpu");
  await expect(tiles).toHaveCount(1);
  await expect(page.getByText("1 of 10 devices shown")).toBeVisible();
});

test("arrows move from device to device, Enter picks", async ({ page }) => {
  await open(page, TOUR);
  await tile(page, "gpu.example.com/node-a/gpu-0").focus();
  await page.keyboard.press("ArrowRight");
  await expect(tile(page, "gpu.example.com/node-a/gpu-1")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await expect(tile(page, "nic.example.com/node-c/nic-0")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: /^Device nic-0/ })).toBeVisible();
  await expect(page.locator('.picture [tabindex="0"]')).toHaveCount(1);
});

test("the table says what the picture says", async ({ page }) => {
  await open(page, TOUR);
  await page.getByText("Devices as a table").click();
  const rows = page.locator(".twin tbody tr");
  await expect(rows).toHaveCount(10);
  await expect(rows.first()).toContainText("gpu-0");
  await expect(rows.first()).toContainText("ml/team-gpu, request gpu");
  await expect(rows.first()).toContainText("admin access");
});

test("partitions, shared capacity, taints and reach are to be seen", async ({ page }) => {
  await open(page, example("partitionable/"));
  await expect(page.locator(".picture")).toContainText(/counters .*gpu-0/);
  await expect(page.locator(".picture .part").first()).toBeVisible();
  await page.goto("about:blank");
  await open(page, example("taints/"));
  await expect(page.locator(".picture .tile.tainted").first()).toContainText(/tainted /);
  await page.goto("about:blank");
  await open(page, example("network-attached/"));
  await expect(page.locator(".picture .frame.shared")).toHaveCount(3);
  await expect(page.locator(".picture")).toContainText("all nodes");
  await page.goto("about:blank");
  await open(page, example("consumable-capacity/"));
  await expect(page.locator(".picture .tile.several")).toContainText(/can be shared by several claims.* of /);
});

test("a large cluster has levels: nodes, pools, devices, one node, with a map beside them", async ({ page }) => {
  await open(page, TOUR + nodesOfEight(60));
  const level = page.getByRole("group", { name: "Level" });
  await expect(page.locator(".heatmap .cell")).toHaveCount(5 + 63);
  // Nearer by a key, from the square that has the focus.
  await page.getByRole("button", { name: /^node-59: / }).press("+");
  await expect(level.getByRole("button", { name: "Pools" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator(".picture .tile")).toHaveCount(0);
  await expect(page.locator(".picture")).toContainText(/devices.* of 8/);
  await expect(page.locator(".minimap .mark").first()).toBeAttached();
  await level.getByRole("button", { name: "Devices" }).click();
  await expect(page.locator(".picture .tile").first()).toBeVisible();
  await level.getByRole("combobox", { name: "Node" }).selectOption("node-59");
  await expect(page.locator(".picture .tile")).toHaveCount(8);
  await expect(page.locator(".minimap .mark")).toHaveCount(1);
  await page.locator(".minimap rect").first().click();
  await expect(level.getByRole("combobox", { name: "Node" })).toHaveValue("node-0");
  expect(await violations(page)).toEqual([]);

  // What is kept as a picture is chosen, too.
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const tiles = async (extent: string) => {
    await page.getByRole("combobox", { name: "Picture of" }).selectOption(extent);
    const event = page.waitForEvent("download");
    await page.getByRole("button", { name: "SVG", exact: true }).click();
    const svg = readFileSync(await (await event).path(), "utf8");
    return [svg.match(/class="tile /g)?.length ?? 0, svg.match(/class="cell /g)?.length ?? 0];
  };
  expect(await tiles("what is in view")).toEqual([8, 0]);
  expect(await tiles("all nodes")).toEqual([0, 63 + 5]);
  expect(await tiles("all pools")).toEqual([0, 0]);
  expect(await tiles("all devices")).toEqual([490, 0]);
});

test("the search jumps to the first device that it finds, and a long list is a field that offers what matches", async ({ page }) => {
  await open(page, TOUR + nodesOfEight(400));
  await expect(page.locator(".heatmap .cell").first()).toBeVisible();
  const find = page.getByRole("searchbox", { name: "Find" });
  await find.fill("node-217 gpu-5");
  await find.press("Enter");
  await expect(page.getByRole("complementary", { name: /^Device gpu-5/ })).toContainText("node-217");
  await expect(tile(page, "gpu.example.com/node-217/gpu-5")).toHaveClass(/picked/);
  await expect(tile(page, "gpu.example.com/node-217/gpu-5")).toBeInViewport();
  await find.fill("");
  // 403 nodes and as many objects.
  const node = page.getByRole("group", { name: "Level" }).getByRole("combobox", { name: "Node" });
  await node.fill("NODE-399");
  await node.press("Enter");
  await expect(page.locator(".picture .tile")).toHaveCount(8);
  await expect(node).toHaveValue("node-399");
  await page.getByRole("combobox", { name: "Go to" }).fill("ResourceSlice node-398");
  await expect(page.locator(".cm-activeLine")).toBeVisible();
  await expect(editor(page)).toContainText("name: node-398");
});

test("ten thousand devices: a first picture within 2 s, and little to scroll", async ({ page }) => {
  test.setTimeout(90_000);
  const text = TOUR + nodesOfEight(1250);
  // The best of three: the machine may do other things at the same time.
  const first: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    await page.goto("about:blank");
    await open(page);
    first.push(
      await page.evaluate(async (text) => {
        const start = performance.now();
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], "large.yaml"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        while (document.querySelectorAll(".heatmap .cell").length < 1253) await frame();
        return performance.now() - start;
      }, text),
    );
  }
  await expect(status(page)).toContainText("1253 nodes", { timeout: 30_000 });
  // Every node at once; one of them leads to its devices, and from there to all.
  await page.getByRole("button", { name: "node-7: 0 of 8 in use" }).click();
  await expect(page.locator(".picture .tile")).toHaveCount(8);
  await page.getByRole("group", { name: "Level" }).getByRole("button", { name: "Devices" }).click();
  await expect(page.locator(".picture .frame").nth(9)).toBeVisible();
  const frames = await page.evaluate(async () => {
    const pane = document.querySelector(".scroll");
    const medians: number[] = [];
    // The best of three again: down, up, down.
    for (const step of [300, -300, 300]) {
      const times: number[] = [];
      for (let count = 0; count < 60; count += 1) {
        const start = performance.now();
        pane?.scrollBy(0, step);
        await new Promise((resolve) => requestAnimationFrame(resolve));
        times.push(performance.now() - start);
      }
      medians.push(times.sort((one, other) => one - other)[30] ?? 0);
    }
    return { median: Math.min(...medians), tiles: document.querySelectorAll(".picture .tile").length };
  });
  console.log(`picture of 10,010 devices after ${first.map(Math.round).join(", ")} ms, median frame ${frames.median.toFixed(1)} ms, ${frames.tiles} tiles drawn`);
  expect(Math.min(...first)).toBeLessThan(2000);
  expect(frames.tiles).toBeLessThan(1500);
  // A screen shows 60 frames a second: two of them where nothing else runs.
  expect(frames.median).toBeLessThan(100);
});

test("the picture follows the text", async ({ page }) => {
  await open(page, TOUR);
  await editor(page).fill(TOUR.replaceAll("gpu-3", "gpu-drei"));
  await settled(page);
  await expect(tile(page, "gpu.example.com/node-b/gpu-drei")).toBeVisible();
});
