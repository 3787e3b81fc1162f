// The picture in other pages.

import { deflateRawSync, gzipSync } from "node:zlib";

import { expect } from "@playwright/test";

import { example, podRow, test, violations } from "./helpers";

/** Everything but the engine, which is its thread and its module; compressed. */
const EMBED_BYTES = 20_000;

test("an example is drawn with its sentence, its text, and a link to the page", async ({ page }) => {
  await page.goto("./embed.html?theme=dark#example=gpu-sharing-unknown");
  await expect(page.getByRole("alert")).toContainText("there is no example `gpu-sharing-unknown`");
  await page.goto("about:blank");
  await page.goto("./embed.html?theme=dark#example=tour");
  await expect(page.getByText("1 of 10 Pods cannot start")).toBeVisible();
  await expect(page.locator(".picture .tile")).toHaveCount(10);
  await expect(page.locator("[contenteditable], textarea")).toHaveCount(0);
  expect(await page.evaluate(() => getComputedStyle(document.body).colorScheme)).toBe("dark");
  await page.getByText("60-pending.yaml").click();
  await expect(page.locator("pre", { hasText: "huge-model" })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  const opened = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Open in Apportion" }).click();
  await expect(podRow(await opened, "notebook")).toContainText("node-a");
});

test("a shared link is drawn as it was shared, and a damaged one says so", async ({ page }) => {
  const shared = { files: [{ name: "a.yaml", text: example("prioritized-list/") }], gates: { DRAPrioritizedList: false } };
  await page.goto(`./embed.html#v1=${deflateRawSync(JSON.stringify(shared)).toString("base64url")}`);
  await expect(page.getByText("4 of 4 Pods cannot start")).toBeVisible();
  await page.goto("about:blank");
  await page.goto("./embed.html#v1=abc");
  await expect(page.getByRole("alert")).toContainText("it is damaged or cut short");
  await page.goto("about:blank");
  await page.goto("./embed.html");
  await expect(page.getByRole("alert")).toContainText("there is nothing behind the #");
});

test("before the engine it weighs at most 20 kB", async ({ page }) => {
  const weights = new Map<string, number>();
  const read: Promise<unknown>[] = [];
  page.on("response", (response) => {
    const name = new URL(response.url()).pathname.split("/").pop() ?? "";
    if (!name.endsWith(".wasm") && !name.startsWith("worker-")) read.push(response.body().then((body) => weights.set(name, gzipSync(body).length), () => undefined));
  });
  const shared = { files: [{ name: "a.yaml", text: example("taints/") }] };
  await page.goto(`./embed.html#v1=${deflateRawSync(JSON.stringify(shared)).toString("base64url")}`);
  await expect(page.locator(".picture .tile").first()).toBeVisible();
  await Promise.all(read);
  const total = [...weights.values()].reduce((sum, bytes) => sum + bytes, 0);
  console.log(`${[...weights].map(([name, bytes]) => `${name} ${bytes}`).join(", ")}: ${total} bytes`);
  expect(total).toBeLessThanOrEqual(EMBED_BYTES);
});
