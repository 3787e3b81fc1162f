// `#url=`: a text of another host, which the build names and the reader confirms.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname } from "node:path";

import { type Page, expect } from "@playwright/test";

import { editor, podRow, pods, test } from "./helpers";

const HOST = "https://texts.example.com";
const BUILT = "node_modules/.hosted";
const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };
const POD = "apiVersion: v1\nkind: Pod\nmetadata: { name: afar }\nspec: { containers: [{ name: c, image: x }] }\n";

/** A page that was built for one host, in the place of the usual one. */
async function hosted(page: Page): Promise<string[]> {
  const asked: string[] = [];
  await page.route("http://localhost:*/**", (route) => {
    const path = new URL(route.request().url()).pathname;
    const file = `${BUILT}${path === "/" ? "/index.html" : path}`;
    return route.fulfill({ body: readFileSync(file), contentType: TYPES[extname(file)] ?? "application/octet-stream" });
  });
  await page.route(`${HOST}/**`, (route) => {
    asked.push(route.request().url());
    const isThere = route.request().url().endsWith("/pods.yaml");
    return route.fulfill({ status: isThere ? 200 : 404, body: isThere ? POD : "", headers: { "access-control-allow-origin": "*" } });
  });
  return asked;
}

test.beforeAll(() => {
  execFileSync("npx", ["vite", "build", "--logLevel", "error", "--outDir", BUILT, "--emptyOutDir"], { env: { ...process.env, APPORTION_HOSTS: HOST } });
});

test("nothing is asked for before the reader agrees, and what was there is one step back", async ({ page }) => {
  const asked = await hosted(page);
  await page.goto(`./#url=${HOST}/pods.yaml`);
  const question = page.getByRole("alertdialog", { name: "Load" });
  await expect(question).toContainText(`${HOST}/pods.yaml`);
  await expect(podRow(page, "notebook")).toBeVisible();
  expect(asked).toEqual([]);
  await question.getByRole("button", { name: "Load" , exact: true }).click();
  await expect(podRow(page, "afar")).toBeVisible();
  expect(asked).toEqual([`${HOST}/pods.yaml`]);
  await page.goBack();
  await expect(podRow(page, "notebook")).toBeVisible();
});

test("a refusal and a missing text leave everything as it was", async ({ page }) => {
  const asked = await hosted(page);
  await page.goto(`./#url=${HOST}/none.yaml`);
  await page.getByRole("button", { name: "Do not load" }).click();
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
  expect(asked).toEqual([]);
  await page.evaluate((host) => (location.hash = `#url=${host}/none.yaml?again`), HOST);
  await page.getByRole("button", { name: "Load", exact: true }).click();
  await expect(page.getByText("The text could not be loaded: 404")).toBeVisible();
  await expect(podRow(page, "notebook")).toBeVisible();
  // Of any other host it says what to do.
  await page.evaluate(() => (location.hash = "#url=https://other.example.com/a.yaml"));
  await expect(page.getByText("Open the address and paste its text here")).toBeVisible();
});

test("the usual page loads from nowhere, and says what to do", async ({ page }) => {
  await page.goto(`./#url=${HOST}/pods.yaml`);
  await expect(pods(page)).toBeVisible();
  await expect(page.getByText("Open the address and paste its text here")).toBeVisible();
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
  await expect(editor(page)).toBeVisible();
});
