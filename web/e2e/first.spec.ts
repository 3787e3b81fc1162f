// The first minute: the tour, the words, an empty page, a broken text.

import { expect } from "@playwright/test";

import { drop, editor, example, open, podRow, pods, settled, tab, test, tile, violations } from "./helpers";

test("a tour of five steps shows each part of the page, and ends where one wants", async ({ page }) => {
  await open(page);
  const around = page.getByRole("button", { name: "Show me around" });
  await around.press("Enter");
  const tour = page.getByRole("complementary", { name: "A tour of the page" });
  const titles = ["Your text", "The answer", "The picture", "Why", "Go on"];
  for (const [index, title] of titles.entries()) {
    await expect(tour).toContainText(`${index + 1} of 5. ${title}.`);
    await expect(page.locator(".toured")).toHaveCount(1);
    if (title === "Why") await expect(tab(page, "Why")).toHaveAttribute("aria-selected", "true");
    if (title === "The picture") expect(await violations(page)).toEqual([]);
    // One key goes on.
    await expect(tour.getByRole("button", { name: title === "Go on" ? "Done" : "Next" })).toBeFocused();
    await page.keyboard.press("Enter");
  }
  await expect(tour).toHaveCount(0);
  await expect(around).toBeFocused();
  await expect(page.locator(".toured")).toHaveCount(0);
});

test("one's own manifests take the place of the tour: pasted over it, pasted beside it, dropped; Undo brings it back", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  const manifest = "apiVersion: v1\nkind: Pod\nmetadata: { name: mine }\nspec: { containers: [{ name: c, image: x }] }\n";
  await page.evaluate((text) => navigator.clipboard.writeText(text), manifest);
  const brings: (() => Promise<void>)[] = [
    async () => {
      await page.locator(".cm-content").click();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Control+v");
    },
    async () => {
      await tab(page, "Result").focus();
      await page.keyboard.press("Control+v");
    },
    () => drop(page, { dump: manifest }),
  ];
  for (const bring of brings) {
    await bring();
    await expect(podRow(page, "mine")).toBeVisible();
    await expect(pods(page).locator("tbody")).toHaveCount(1);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(podRow(page, "notebook")).toBeVisible();
  }
  // A word is no manifest.
  await page.evaluate(() => navigator.clipboard.writeText("hello"));
  await tab(page, "Result").focus();
  await page.keyboard.press("Control+v");
  await settled(page);
  await expect(podRow(page, "notebook")).toBeVisible();
});

test("words are explained where they stand, and an empty page says how to begin", async ({ page }) => {
  await open(page);
  await page.getByRole("columnheader", { name: "Claim" }).getByRole("button", { name: "Claim" }).click();
  await expect(page.getByText("A ResourceClaim asks for devices")).toBeVisible();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Files", exact: true }).click();
  await page.getByRole("button", { name: "Start empty" }).click();
  await expect(page.getByText("No Pods yet")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Command for hardware, claims and Pods" })).toHaveValue(/^kubectl get .*pods -A -o yaml$/);
  await page.getByRole("button", { name: "counter" }).click();
  await expect(page.getByText("Partitions of one physical device")).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

for (const width of [1440, 1024]) {
  test(`nothing moves while an answer is awaited, ${width} pixels wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 860 });
    await open(page);
    const tops = await page.evaluateHandle(() => {
      const seen = new Set<string>();
      const look = () => seen.add(`${document.querySelector(".busy") !== null} ${document.querySelector("#panel")?.getBoundingClientRect().top}`);
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
      look();
      return seen;
    });
    await editor(page).press("Control+End");
    await page.keyboard.type("# more");
    await settled(page);
    const seen = await tops.evaluate((seen) => [...seen]);
    expect(seen.some((entry) => entry.startsWith("true"))).toBe(true);
    expect(new Set(seen.map((entry) => entry.split(" ")[1])).size).toBe(1);
  });
}

test("while the text is broken the last picture stays, dimmed", async ({ page }) => {
  await open(page, example("gpu-sharing/"));
  await settled(page);
  const places = () => page.evaluate(() => [".answer", ".picture", "#pods"].map((part) => document.querySelector(part)?.getBoundingClientRect().top));
  await expect(page.locator(".answer")).toContainText("192Gi");
  const before = await places();
  await editor(page).press("Control+End");
  // At once: an answer to a part of it would be the last one.
  await page.keyboard.insertText("\n---\nkind: [");
  await settled(page);
  // Nothing of the answer moves.
  expect(await places()).toEqual(before);
  await expect(page.getByText("The text cannot be read as it is.")).toBeVisible();
  await expect(page.locator(".picture .tile")).toHaveCount(10);
  for (let count = 0; count < 3; count += 1) await page.keyboard.press("Backspace");
  await page.keyboard.type(" Pod");
  await expect(page.getByText("The text cannot be read as it is.")).toHaveCount(0);
  await expect(tile(page, "gpu.example.com/node-a/gpu-0")).toBeVisible();
});

test("names complete, are found, replaced, and lead to what they name", async ({ page }) => {
  await open(page, example("gpu-sharing/"));
  await editor(page).press("Control+End");
  await page.keyboard.type("\n# deviceClassName: nic", { delay: 20 });
  await page.keyboard.press("Control+Space");
  await expect(page.locator(".cm-tooltip-autocomplete")).toContainText("nic.example.com");
  // A list that has just come takes no key by mistake.
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
  await expect(page.locator(".cm-line").last()).toHaveText("# deviceClassName: nic.example.com");
  // To the class that the line names.
  await settled(page);
  await page.keyboard.press("F12");
  await expect(page.locator(".cm-line", { hasText: "name: nic.example.com" })).toBeVisible();
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find" }).fill("huge-model");
  await page.getByRole("textbox", { name: "Replace" }).fill("big-model");
  await page.getByRole("button", { name: "replace all" }).click();
  await page.keyboard.press("Escape");
  await expect(podRow(page, "big-model")).toBeVisible();
});

test("fields complete from the schemas, and say what they are where the pointer rests", async ({ page }) => {
  await open(page, example("gpu-sharing/"));
  // Colours come with what says the fields.
  const field = page.locator(".cm-line", { hasText: "selectors:" }).first().locator("[class*=tok-]", { hasText: "selectors" });
  for (const x of [20, 24]) await field.hover({ position: { x, y: 6 } });
  await expect(page.locator(".cm-field")).toContainText("All of them must be true for a device.");
  await editor(page).press("Control+End");
  await page.keyboard.type("\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim", { delay: 20 });
  // Who waits before Enter still begins a new line: the word is there in full.
  await page.waitForTimeout(300);
  await page.keyboard.type("\nspec:\ndev", { delay: 20 });
  const list = page.locator(".cm-tooltip-autocomplete");
  await page.keyboard.press("Home");
  await page.keyboard.type("  ");
  await page.keyboard.press("End");
  await page.keyboard.press("Control+Space");
  await expect(list).toContainText("devices");
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
  await expect(page.locator(".cm-line").last()).toHaveText("  devices:");
});
