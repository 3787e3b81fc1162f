// Links, downloads, files, examples, settings.

import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

import { type Page, expect } from "@playwright/test";

import { drop, editor, example, open, podRow, pods, settled, status, tab, test, tile, write } from "./helpers";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function download(page: Page, name: string): Promise<{ name: string; bytes: Buffer }> {
  const waiting = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  const download = await waiting;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test("a shared link opens as what was shared", async ({ page, context }) => {
  await open(page, example("partitionable/"));
  await page.getByRole("combobox", { name: "Kubernetes" }).selectOption("1.36");
  await tab(page, "Why").click();
  await expect(page).toHaveURL(/#v1=/);
  await button(page, "Share").click();
  await expect(page.getByRole("textbox", { name: "Link" })).toHaveValue(/#v1=/);
  const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
  const other = await context.newPage();
  await other.goto(link);
  await expect(other.getByRole("combobox", { name: "Kubernetes" })).toHaveValue("1.36");
  await expect(tab(other, "Why")).toHaveAttribute("aria-selected", "true");
  await expect(other.getByRole("region", { name: "Pod ml/small-3" })).toContainText("Pending");
  await expect(editor(other)).toContainText("DeviceClass");
  await other.close();
});

test("a damaged link says so and shows the page as it starts", async ({ page }) => {
  await page.goto("./#v1=abc");
  await expect(page.getByText("The link cannot be opened: it is damaged or cut short.")).toBeVisible();
  await expect(podRow(page, "notebook")).toContainText("node-a");
});

test("an example opens by a short link, and a wrong name says which there are", async ({ page }) => {
  await page.goto("./#example=taints");
  await expect(podRow(page, "late")).toContainText("Pending", { timeout: 20_000 });
  await page.goto("./#example=tain");
  await expect(page.getByText("there is no example tain, but taints, tainted.")).toBeVisible();
  await expect(podRow(page, "late")).toContainText("Pending");
});

test("a link with a gate that this page does not know opens without it, and says so", async ({ page }) => {
  const shared = { files: [{ name: "a.yaml", text: example("prioritized-list/") }], gates: { DRAFromTheFuture: true, DRAPrioritizedList: false } };
  await page.goto(`./#v1=${deflateRawSync(JSON.stringify(shared)).toString("base64url")}`);
  await expect(status(page)).toContainText("0 of 4 Pods placed", { timeout: 20_000 });
  await expect(page.getByText("Left out, for this page does not know it: feature gate DRAFromTheFuture.")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("YAML, JSON, SVG, PNG and a snapshot can be kept", async ({ page }) => {
  const text = example("gpu-sharing/");
  await open(page, text);
  await button(page, "Share").click();
  const yaml = await download(page, "YAML");
  expect([yaml.name, yaml.bytes.toString()]).toEqual(["cluster.yaml", text]);
  const report: unknown = JSON.parse((await download(page, "JSON")).bytes.toString());
  expect(report).toHaveProperty("pods.length", 10);
  const svg = (await download(page, "SVG")).bytes.toString();
  expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect(svg).toContain("team-gpu");
  const drawn = await page.evaluate((svg) => {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    return [parsed.querySelectorAll("parsererror").length, parsed.querySelectorAll(".tile").length];
  }, svg);
  expect(drawn).toEqual([0, 10]);
  const png = await download(page, "PNG");
  expect([...png.bytes.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
  expect(png.bytes.length).toBeGreaterThan(10_000);
  const snapshot: unknown = JSON.parse((await download(page, "Snapshot")).bytes.toString());
  expect(snapshot).toHaveProperty("format", "apportion/snapshot/v1");
});

test("files are tabs: dropped, renamed, removed; what is no manifest is refused", async ({ page }) => {
  await open(page, "apiVersion: v1\nkind: Pod\nmetadata: { name: one }\n");
  await write(page, "apiVersion: v1\nkind: Pod\nmetadata: { name: first }\nspec: { containers: [{ name: c, image: x }] }\n");
  await expect(podRow(page, "first")).toBeVisible();
  await drop(page, { "two.yaml": "apiVersion: v1\r\nkind: Pod\r\nmetadata: { name: second }\r\nspec: { containers: [{ name: c, image: x }] }\r\n", "notes.txt": "hello" });
  await expect(podRow(page, "second")).toBeVisible();
  await expect(page.getByText("Not read, for it holds no manifest or is too large: notes.txt")).toBeVisible();
  const files = page.getByRole("navigation", { name: "Files" }).getByRole("button");
  await expect(files).toHaveText(["cluster.yaml", "two.yaml"]);
  await expect(editor(page)).toContainText("second");
  await files.first().click();
  await expect(editor(page)).toContainText("first");

  await button(page, "Files").click();
  await page.getByRole("textbox", { name: "Name of file 1" }).fill("first.yaml");
  await page.keyboard.press("Tab");
  await button(page, "Remove two.yaml").click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await expect(podRow(page, "second")).toHaveCount(0);
  await expect(podRow(page, "first")).toBeVisible();
});

test("a new file and two drops leave the tour where it is", async ({ page }) => {
  await open(page);
  const files = page.getByRole("navigation", { name: "Files" }).getByRole("button");
  const count = await files.count();
  await button(page, "Files").click();
  await button(page, "New file").click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await expect(files).toHaveCount(count + 1);
  await drop(page, { dump: "apiVersion: v1\nkind: Pod\nmetadata: { name: first }\nspec: { containers: [{ name: c, image: x }] }\n" });
  await drop(page, { dump: "apiVersion: v1\nkind: Pod\nmetadata: { name: second }\nspec: { containers: [{ name: c, image: x }] }\n" });
  await expect(files).toHaveCount(count + 3);
  for (const name of ["notebook", "first", "second"]) await expect(podRow(page, name)).toBeVisible();
});

test("files are opened from the disk, and an empty page is a start", async ({ page }) => {
  await open(page);
  await button(page, "Files").click();
  await page.getByRole("button", { name: "Start empty" }).click();
  await expect(page.getByText("No Pods yet")).toBeVisible();
  await button(page, "Files").click();
  await page.locator('input[type="file"]').first().setInputFiles([new URL("../../examples/life/cluster.yaml", import.meta.url).pathname]);
  await expect(podRow(page, "trainer-0")).toContainText("node-a");
});

test("every example opens", async ({ page }) => {
  await open(page);
  await button(page, "Examples").click();
  await expect(page.getByRole("dialog")).toBeVisible();
  const names = await page.getByRole("dialog").locator(".catalogue button").allTextContents();
  expect(names.length).toBeGreaterThanOrEqual(12);
  await page.keyboard.press("Escape");
  for (const name of names) {
    await button(page, "Examples").click();
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(status(page)).toContainText(/\d+ of \d+ Pods? placed/);
    await settled(page);
    await expect(page.getByRole("alert")).toHaveCount(0);
  }
});

test("300 Pods on one claim are one holder of a device", async ({ page }) => {
  await open(page);
  await button(page, "Examples").click();
  await page.getByRole("button", { name: "300 Pods on one claim" }).click();
  await expect(status(page)).toContainText("300 of 300 Pods placed", { timeout: 15_000 });
  await expect(page.getByRole("list", { name: "Claims that hold devices" })).toContainText("1 device, 300 Pods of PodGroup workers");
  await expect(tile(page, "fabric.example.com/fabric/channel-0")).toContainText("workers-channel");
});

test("the outline goes to an object, in whichever file it is", async ({ page }) => {
  await open(page);
  await page.getByRole("combobox", { name: "Go to" }).selectOption({ label: "Job ml/training" });
  await expect(editor(page)).toBeFocused();
  await expect(editor(page)).toContainText("kind: Job");
});

test("a gate that is turned off changes the answer", async ({ page }) => {
  await open(page, example("prioritized-list/"));
  await expect(status(page)).toContainText("3 of 4 Pods placed");
  await button(page, "Settings").click();
  await page.getByRole("combobox", { name: "DRAPrioritizedList" }).selectOption("false");
  await page.keyboard.press("Escape");
  await expect(status(page)).toContainText("0 of 4 Pods placed");
  await expect(button(page, "Settings (1 gate)")).toBeVisible();
});

test("the colours chosen are kept", async ({ page }) => {
  await open(page);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await button(page, "Settings").click();
  await page.getByRole("radio", { name: "dark" }).check();
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.reload();
  await expect(pods(page)).toBeVisible();
  expect(await ground()).toBe(dark);
});

test("folding hides what is below a key", async ({ page }) => {
  await open(page, example("groups/gang.yaml"));
  const lines = await page.locator(".cm-line").count();
  await page.locator('.cm-foldGutter [title="Fold line"]').first().click();
  await expect(page.locator(".cm-foldPlaceholder").first()).toBeVisible();
  expect(await page.locator(".cm-line").count()).toBeLessThanOrEqual(lines);
});
