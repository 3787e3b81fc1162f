// Promises of the page, in a browser, on what was built.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";

import { type Page, expect, test } from "@playwright/test";

import { CHROMIUM } from "../playwright.config";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test.skip(!existsSync(CHROMIUM), `there is no browser at ${CHROMIUM}: install Chromium or name one in CHROMIUM`);

const BROKEN = `kind: [
---
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { resourceClaims: [{ name: c, resourceClaimName: missing }] }
`;

const FOLDER = new URL("../../examples/gpu-sharing/", import.meta.url);
const EXAMPLE = readdirSync(FOLDER).sort().map((name) => readFileSync(new URL(name, FOLDER), "utf8")).join("\n---\n");

const pods = (page: Page) => page.getByRole("table", { name: "Pods" });
const podRow = (page: Page, name: string) => pods(page).locator("tbody").filter({ has: page.getByRole("button", { name, exact: true }) });
const editor = (page: Page) => page.getByRole("textbox", { name: "Manifests" });

async function write(page: Page, text: string) {
  await editor(page).fill(text);
}

test("the example is allocated, and an edit changes the answer", async ({ page }) => {
  await page.goto("./");
  await expect(podRow(page, "notebook")).toContainText("node-a");
  await expect(podRow(page, "notebook")).toContainText("gpu-0 gpu.example.com");
  await expect(podRow(page, "huge-model")).toContainText("Pending");

  // The line of a Pending Pod's reason is gone to.
  await podRow(page, "huge-model").getByRole("button", { name: /^line/ }).first().click();
  await expect(editor(page)).toBeFocused();
  await expect(editor(page)).toContainText("name: huge");

  await write(page, EXAMPLE.replaceAll("192Gi", "16Gi"));
  await expect(podRow(page, "huge-model")).toContainText("node-c");
  await expect(page.getByRole("status")).toContainText("10 of 10 Pods placed");
});

test("broken YAML gives findings with lines and executes nothing", async ({ page }) => {
  const dialogs: string[] = [];
  page.on("dialog", async (dialog) => {
    dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  await page.goto("./");
  await expect(pods(page)).toBeVisible();
  await write(page, "kind: [\n---\napiVersion: v1\nkind: <img src=x onerror=alert(1)>\nmetadata: { name: <script>alert(1)</script> }\n");
  const findings = page.getByRole("region", { name: "Findings" });
  await expect(findings).toContainText("yaml/syntax");
  await expect(page.getByRole("region", { name: "Notes" })).toContainText("<img src=x onerror=alert(1)>");
  await expect(page.locator("main img, main script")).toHaveCount(0);
  await expect(page.getByText("No Pods yet")).toBeVisible();
  expect(dialogs).toEqual([]);
});

test("nothing leaves the page, and nothing is loaded after the start", async ({ page, baseURL }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto("./");
  await expect(pods(page)).toBeVisible();
  expect(requests.filter((url) => !url.startsWith(baseURL ?? "") && !url.startsWith("data:"))).toEqual([]);
  const count = requests.length;
  await write(page, "kind: Pod\n");
  await expect(page.getByText("No Pods yet")).toBeVisible();
  expect(requests.length).toBe(count);
});

test("when the module cannot be loaded the page says so, and recovers", async ({ page }) => {
  let isBlocked = true;
  await page.route("**/*.wasm", (route) => (isBlocked ? route.abort() : route.continue()));
  await page.goto("./");
  await expect(page.getByRole("alert")).toContainText("The engine stopped");
  await expect(editor(page)).toBeVisible();
  isBlocked = false;
  await editor(page).press("End");
  await page.keyboard.type("#");
  await expect(pods(page)).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("the package runs in a plain page, without bundler or configuration", async ({ page }) => {
  const site = "http://plain.test/";
  const types: Record<string, string> = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };
  await page.route(`${site}**`, (route) => {
    const name = route.request().url().slice(site.length);
    if (name === "page.html") return route.fulfill({ contentType: "text/html", body: "<!doctype html><title>plain</title>" });
    const path = new URL(`../../npm/dist/${name}`, import.meta.url);
    return route.fulfill({ contentType: types[name.split(".").pop() ?? ""] ?? "", body: readFileSync(path) });
  });
  await page.goto(`${site}page.html`);
  const pods = await page.evaluate(async (text) => {
    const { Engine, init } = await import(/* @vite-ignore */ String("/index.js"));
    await init();
    const engine = new Engine();
    engine.applyYaml(text);
    return engine.run().pods.map(({ name }: { name: string }) => name);
  }, BROKEN);
  expect(pods).toEqual(["p"]);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the page has no accessibility violations, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto("./");
    await expect(pods(page)).toBeVisible();
    await write(page, BROKEN);
    await expect(podRow(page, "p")).toContainText("Pending");
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe.run();
      return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    });
    expect(violations).toEqual([]);
  });
}
