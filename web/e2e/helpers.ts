// What the tests of the page share.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";

import { type Page, expect, test as base } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A test in which any error of the page fails. */
export const test = base.extend<{ noErrors: void }>({
  noErrors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      await use();
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

const EXAMPLES = new URL("../../examples/", import.meta.url);

/** The files of an example as one text. */
export function example(path: string): string {
  const place = new URL(path, EXAMPLES);
  if (!path.endsWith("/")) return readFileSync(place, "utf8");
  const names = readdirSync(place).filter((name) => name.endsWith(".yaml")).sort();
  return names.map((name) => readFileSync(new URL(name, place), "utf8")).join("---\n");
}

export const editor = (page: Page) => page.getByRole("textbox", { name: "Manifests" });
export const pods = (page: Page) => page.getByRole("table", { name: "Pods" });
export const podRow = (page: Page, name: string) =>
  pods(page).locator("tbody").filter({ has: page.getByRole("button", { name, exact: true }) });
export const tab = (page: Page, name: string) => page.getByRole("tab", { name: new RegExp(`^${name}`) });
export const tile = (page: Page, key: string) => page.locator(`.picture [data-key="${key}"]`);
export const status = (page: Page) => page.locator(".head").getByRole("status");

/** Opens the page with one file that holds a text; without one, as it starts. */
export async function open(page: Page, text?: string): Promise<void> {
  await page.goto("./");
  await expect(pods(page)).toBeVisible();
  // The editor takes the place of the plain field once there is an answer; narrow screens show it on demand.
  await expect(page.locator(".cm-content")).toBeAttached();
  if (text === undefined) return;
  await page.getByRole("button", { name: "Files", exact: true }).click();
  await page.getByRole("button", { name: "Start empty" }).click();
  await drop(page, { "cluster.yaml": text });
  await expect(page.getByRole("navigation", { name: "Files" })).toHaveCount(0);
  await settled(page);
}

/** The text of the file that is shown becomes another. */
export async function write(page: Page, text: string): Promise<void> {
  await editor(page).fill(text);
}

/** Waits until the answer belongs to the text. */
export async function settled(page: Page): Promise<void> {
  await page.waitForTimeout(150);
  await expect(page.locator(".busy")).toHaveCount(0);
}

/** Drops files on the page, as from a file manager. */
export async function drop(page: Page, files: Record<string, string>): Promise<void> {
  await page.evaluate((files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(files)) dataTransfer.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, files);
}

/** Slices of so many nodes with eight devices each. */
export const nodesOfEight = (count: number) => Array.from({ length: count }, (_, node) => `---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: node-${node} }
spec:
  driver: gpu.example.com
  nodeName: node-${node}
  pool: { name: node-${node}, generation: 1, resourceSliceCount: 1 }
  devices: [${Array.from({ length: 8 }, (_, index) => `{ name: gpu-${index} }`).join(", ")}]
`).join("");

/** Violations of WCAG 2.2 AA and of axe's best practices. */
export async function violations(page: Page): Promise<unknown[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  });
}
