// Why something is Pending, and suggestions that change the text.

import { readFileSync } from "node:fs";

import { type Page, expect } from "@playwright/test";

import { editor, example, open, podRow, tab, test, violations } from "./helpers";

const TOUR = example("gpu-sharing/");

test("a suggestion changes the YAML, shows the new answer beside the old, and can be undone", async ({ page }) => {
  await open(page);
  await tab(page, "Why").click();
  const why = page.getByRole("region", { name: "Pod ml/huge-model" });
  const funnel = why.getByRole("table");
  await expect(funnel.getByRole("row", { name: /^offered 10/ })).toBeVisible();
  await expect(funnel.getByRole("row", { name: /^match 0/ })).toContainText("192Gi");

  await why.getByRole("button", { name: "Apply" }).first().click();
  // Shown before it is made; leaving it changes nothing.
  const proposal = page.getByRole("dialog", { name: "Change the text" });
  await expect(proposal.locator(".gone")).toContainText("192Gi");
  await expect(proposal.locator(".new").first()).toContainText("80Gi");
  expect(await violations(page)).toEqual([]);
  await proposal.getByRole("button", { name: "Leave it" }).click();
  await expect(proposal).toHaveCount(0);
  await expect(why).toBeVisible();
  await why.getByRole("button", { name: "Apply" }).first().click();
  await proposal.getByRole("button", { name: "Make the change" }).click();
  const applied = page.getByRole("status", { name: "Applied" });
  await expect(applied.getByRole("row", { name: /Pod ml\/huge-model/ })).toContainText("Pending");
  await expect(applied.getByRole("row", { name: /Pod ml\/huge-model/ })).toContainText("node-c");
  await expect(page.getByText("Nothing is Pending")).toBeVisible();
  // The file with the claim is shown, its comment is where it was.
  await expect(editor(page)).toContainText('expression: device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0');
  await expect(editor(page)).toContainText("# Stays Pending");

  await editor(page).focus();
  await page.keyboard.press("Control+z");
  await expect(why).toBeVisible();
  await expect(editor(page)).toContainText("192Gi");
});

test("an applied suggestion is taken back by its own button", async ({ page }) => {
  await open(page, TOUR);
  await tab(page, "Why").click();
  await page.getByRole("button", { name: "Apply" }).first().click();
  await page.getByRole("button", { name: "Make the change" }).click();
  await expect(page.getByText("Nothing is Pending")).toBeVisible();
  await page.getByRole("status", { name: "Applied" }).getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("region", { name: "Pod ml/huge-model" })).toBeVisible();
  await tab(page, "Result").click();
  await expect(podRow(page, "huge-model")).toContainText("Pending");
});

test("each device of a node says what is against it", async ({ page }) => {
  await open(page, example("taints/"));
  await tab(page, "Why").click();
  await page.getByText("Each device with its reasons").first().click();
  const table = page.getByRole("table").filter({ hasText: "What is against it" });
  await expect(table).toContainText("is in use");
  await page.getByRole("combobox", { name: "Node" }).selectOption("node-b");
  await expect(table).toContainText("which the request does not tolerate");
});

test("a broken selector is corrected by the fix of its finding", async ({ page }) => {
  await open(page, TOUR.replace("deviceClassName: gpu.example.com", "deviceClasName: gpu.example.com"));
  const finding = page.getByRole("region", { name: "Findings" }).getByRole("listitem").filter({ hasText: "deviceClasName" }).first();
  await finding.getByRole("button", { name: "Fix" }).click();
  await page.getByRole("button", { name: "Make the change" }).click();
  await expect(page.getByRole("region", { name: "Findings" })).not.toContainText("deviceClasName");
  await expect(editor(page)).not.toContainText("deviceClasName");
});

test("a fix changes the words that are wrong and nothing else", async ({ page }) => {
  // Comments, quotes, order, and a field that is left to its default.
  const text = `# mine
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { namespace: 'ml', name: "one" }   # kept
spec:
  devices:
    requests:
    - exactly: { deviceClasName: "gpu.example.com" }
      name: gpu
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {}
`;
  await open(page, text + example("life/cluster.yaml").replace(/^/, "---\n"));
  const before = await written(page);
  await page.getByRole("region", { name: "Findings" }).getByRole("listitem").filter({ hasText: "deviceClasName" }).first().getByRole("button", { name: "Fix" }).click();
  const proposal = page.getByRole("dialog", { name: "Change the text" });
  await expect(proposal.locator(".gone")).toHaveCount(1);
  await expect(proposal.locator(".new")).toHaveCount(1);
  await proposal.getByRole("button", { name: "Make the change" }).click();
  await expect(proposal).toHaveCount(0);
  expect(await written(page)).toBe(before.replace("deviceClasName", "deviceClassName"));
});

/** The text as the page gives it away. */
async function written(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  const text = readFileSync(await (await download).path(), "utf8");
  await page.keyboard.press("Escape");
  return text;
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`Why has no accessibility violations, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, example("taints/"));
    await tab(page, "Why").click();
    await expect(page.getByRole("button", { name: "Apply" }).first()).toBeVisible();
    await page.getByText("Each device with its reasons").first().click();
    expect(await violations(page)).toEqual([]);
  });
}

test("what the headline says is explained at once, while changes that help are looked for", async ({ page }) => {
  // An engine that takes for ever to look for changes.
  await page.addInitScript(() => {
    const { Worker } = globalThis;
    globalThis.Worker = class extends Worker {
      override postMessage(message: { kind: string }) {
        if (message.kind !== "why") super.postMessage(message);
      }
    };
  });
  await page.goto("./");
  await expect(page.getByRole("region", { name: "In one sentence" })).toContainText("192Gi");
  await tab(page, "Why").click();
  const why = page.getByRole("region", { name: "Pod ml/huge-model" });
  await expect(why.getByRole("table")).toContainText("offered");
  await expect(page.getByText("being looked for")).toBeVisible();
});
