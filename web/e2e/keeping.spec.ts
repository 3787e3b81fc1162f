// What was written is not lost: by opening something else, by removing a file, by a reload or a crash.

import { type Page, expect } from "@playwright/test";

import { drop, editor, open, podRow, pods, settled, tab, test, write } from "./helpers";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const files = (page: Page) => page.getByRole("navigation", { name: "Files" }).getByRole("button");
const pod = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec: { containers: [{ name: c, image: x }] }\n`;

test("an example takes nothing away: Back, and Ctrl+Z in the text, bring back what was typed", async ({ page }) => {
  await open(page, pod("mine"));
  await button(page, "Examples").click();
  await button(page, "Taints and tolerations").click();
  await expect(files(page).first()).toBeVisible();
  await page.goBack();
  await expect(podRow(page, "mine")).toBeVisible();
  await page.goForward();
  await expect(files(page).first()).toBeVisible();
  await editor(page).press("Control+z");
  await expect(podRow(page, "mine")).toBeVisible();
  await expect(editor(page)).toContainText("name: mine");
});

test("`Start empty` takes nothing away, and neither does a link that is opened over a text", async ({ page }) => {
  await open(page, pod("mine"));
  await button(page, "Files").click();
  await button(page, "Start empty").click();
  await expect(page.getByText("No Pods yet")).toBeVisible();
  await page.goBack();
  await expect(podRow(page, "mine")).toBeVisible();
  await page.evaluate(() => (location.hash = "#example=taints"));
  await expect(podRow(page, "careful")).toBeVisible();
  await page.goBack();
  await expect(podRow(page, "mine")).toBeVisible();
  await expect(editor(page)).toContainText("name: mine");
});

test("a removed file comes back where it was", async ({ page }) => {
  await open(page);
  const names = await files(page).allTextContents();
  await button(page, "Files").click();
  await button(page, `Remove ${names[1]}`).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await expect(files(page)).toHaveText(names);
  await button(page, `Remove ${names[1]}`).click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await expect(files(page)).toHaveCount(names.length - 1);
  await button(page, "Undo").click();
  await expect(files(page)).toHaveText(names);
});

test("a reload keeps a text that is too long for a link, and Undo shows what was opened", async ({ page }) => {
  await open(page);
  const noise = Array.from({ length: 30_000 }, (_, index) => `# ${(index * 48_271) % 2_147_483_647}\n`).join("");
  await drop(page, { dump: `${pod("long")}${noise}` });
  await expect(podRow(page, "long")).toBeVisible();
  await page.waitForTimeout(1_500);
  expect(page.url()).not.toContain("#");
  await page.reload();
  await expect(podRow(page, "long")).toBeVisible();
  await expect(page.getByText("Restored as you left it: dump.")).toBeVisible();
  await button(page, "Undo").click();
  await expect(podRow(page, "notebook")).toBeVisible();
  await expect(podRow(page, "long")).toHaveCount(0);
});

test("the next visit restores what a closed tab left behind, and lists it under its name", async ({ page, context }) => {
  await open(page, pod("mine"));
  await button(page, "Files").click();
  await page.getByRole("textbox", { name: "Name of this draft" }).fill("My cluster");
  await page.keyboard.press("Tab");
  await page.waitForTimeout(1_000);
  await page.close();
  const next = await context.newPage();
  await next.goto("./");
  await expect(podRow(next, "mine")).toBeVisible();
  await expect(next.getByText("Restored as you left it: My cluster.")).toBeVisible();
  await button(next, "Undo").click();
  await expect(podRow(next, "notebook")).toBeVisible();
  await button(next, "Files").click();
  await button(next, "My cluster").click();
  await expect(podRow(next, "mine")).toBeVisible();
});

test("hardware that was added is taken back by Ctrl+Z, and the other text of Compare stays", async ({ page }) => {
  await open(page, pod("mine"));
  await button(page, "Hardware").click();
  await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
  await expect(files(page)).toHaveText(["cluster.yaml", "nvidia-h100.yaml"]);
  await editor(page).press("Control+z");
  await expect(files(page)).toHaveCount(0);
  await expect(editor(page)).toContainText("name: mine");
  await tab(page, "Compare").click();
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("another text");
  const other = page.getByRole("textbox", { name: "The other text" });
  await other.fill(pod("theirs"));
  await tab(page, "Result").click();
  await tab(page, "Compare").click();
  await expect(other).toHaveValue(pod("theirs"));
});

test("two tabs with one draft keep both texts", async ({ page, context }) => {
  await open(page, pod("mine"));
  await page.waitForTimeout(1_000);
  const other = await context.newPage();
  await other.goto("./");
  await expect(podRow(other, "mine")).toBeVisible();
  await write(other, pod("theirs"));
  await expect(podRow(other, "theirs")).toBeVisible();
  await settled(other);
  await other.waitForTimeout(1_000);
  await page.reload();
  await expect(pods(page)).toBeVisible();
  await expect(podRow(page, "mine")).toBeVisible();
});

test("a file that is renamed can still be undone to what it was", async ({ page }) => {
  await open(page, pod("mine"));
  await editor(page).press("Control+End");
  await page.keyboard.type("# typed");
  await button(page, "Files").click();
  await page.getByRole("textbox", { name: "Name of file 1" }).fill("renamed.yaml");
  await page.keyboard.press("Tab");
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await editor(page).press("Control+z");
  await expect(page.locator(".cm-content")).not.toContainText("typed");
  await expect(editor(page)).toContainText("name: mine");
});

test("a browser that keeps nothing says so, and asks before a long text is lost", async ({ page }) => {
  await page.addInitScript(() => Object.defineProperty(globalThis, "indexedDB", { get: () => { throw new DOMException("refused", "SecurityError"); } }));
  await open(page);
  const noise = Array.from({ length: 30_000 }, (_, index) => `# ${(index * 48_271) % 2_147_483_647}\n`).join("");
  await drop(page, { dump: `${pod("long")}${noise}` });
  await expect(page.getByText("This browser keeps nothing, and the text is too long for a link")).toBeVisible();
  // Browsers ask only those who did something on the page.
  await page.locator("body").click();
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
});

test("a drop that was undone is done again, beside the text and over the tour", async ({ page }) => {
  await open(page);
  await drop(page, { "mine.yaml": pod("mine") });
  await expect(podRow(page, "mine")).toBeVisible();
  await button(page, "Undo").click();
  await expect(podRow(page, "notebook")).toBeVisible();
  await page.locator("#panel").press("Control+Shift+Z");
  await expect(podRow(page, "mine")).toBeVisible();
  await drop(page, { "other.yaml": pod("other") });
  await expect(podRow(page, "other")).toBeVisible();
  await editor(page).press("Control+z");
  await expect(podRow(page, "other")).toHaveCount(0);
  await button(page, "Redo").click();
  await expect(podRow(page, "other")).toBeVisible();
  await expect(editor(page)).toContainText("name: other");
});
