// The installed page: offline, and held to its policy.

import { expect } from "@playwright/test";

import { editor, open, podRow, tab, test, write } from "./helpers";

test.use({ serviceWorkers: "allow" });

const installed = () => navigator.serviceWorker.ready.then(({ active }) => active?.state);

test("once opened, the page works without a network, every view of it", async ({ page, context }) => {
  await open(page);
  await expect.poll(() => page.evaluate(installed), { timeout: 20_000 }).toBe("activated");
  await context.setOffline(true);
  await page.reload();
  await expect(podRow(page, "notebook")).toContainText("node-a");
  for (const [view, sign] of [["Why", "Apply"], ["Time", "Step"], ["CEL", "gpu-0"]] as const) {
    await tab(page, view).click();
    await expect(page.getByRole("button", { name: sign }).first()).toBeVisible();
  }
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: "Prioritised list" }).click();
  await expect(podRow(page, "first")).toContainText("node-a");
  await write(page, "kind: [");
  await expect(page.getByRole("region", { name: "Findings" })).toContainText("yaml/syntax");
  await expect(editor(page)).toBeVisible();
});

test("neither the page nor its thread can connect to anywhere", async ({ page, baseURL }) => {
  await open(page);
  await expect.poll(() => page.evaluate(installed), { timeout: 20_000 }).toBe("activated");
  await page.reload();
  await expect(podRow(page, "notebook")).toContainText("node-a");
  const isAllowed = (address: string) => fetch(address).then(() => true, () => false);
  expect(await page.evaluate(isAllowed, `${baseURL}icon.svg`)).toBe(false);
  const [thread] = page.workers();
  expect(thread?.url()).toMatch(/worker-.*\.js$/);
  expect(await thread?.evaluate(isAllowed, `${baseURL}icon.svg`)).toBe(false);
});

test("the page can be installed", async ({ page, baseURL }) => {
  await open(page);
  const address = await page.locator('link[rel="manifest"]').getAttribute("href");
  const answer = await page.request.get(new URL(address ?? "", baseURL).href);
  const manifest: unknown = await answer.json();
  expect(manifest).toMatchObject({ name: "Apportion", start_url: "./", display: "standalone" });
});
