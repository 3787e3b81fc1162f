// Promises of the page, in a browser, on what was built.

import { readFileSync } from "node:fs";

import { expect } from "@playwright/test";

import { editor, example, open, podRow, pods, settled, status, test, violations, write } from "./helpers";

const BROKEN = `kind: [
---
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { containers: [{ name: m, image: x }], resourceClaims: [{ name: c, resourceClaimName: missing }] }
`;

const TOUR = example("gpu-sharing/");

test("the example is allocated, and an edit changes the answer", async ({ page }) => {
  await open(page);
  await expect(podRow(page, "notebook")).toContainText("node-a");
  await expect(podRow(page, "notebook")).toContainText("gpu-0 gpu.example.com");
  await expect(podRow(page, "huge-model")).toContainText("Pending");

  // First the answer in one sentence, with the way to more of it.
  const said = page.getByRole("region", { name: "In one sentence" });
  await expect(said).toContainText("1 of 10 Pods cannot start: huge-model asks for a GPU with at least 192Gi of memory; the largest GPU has 80Gi.");
  await said.getByRole("button", { name: "Why" }).click();
  await expect(page.getByRole("region", { name: "Pod ml/huge-model" })).toBeVisible();
  await page.getByRole("tab", { name: "Result" }).click();

  // The line of a Pending Pod's reason is gone to, in the file that has it.
  await podRow(page, "huge-model").getByRole("button", { name: /line \d+$/ }).first().click();
  await expect(editor(page)).toBeFocused();
  await expect(editor(page)).toContainText("name: huge");

  await write(page, example("gpu-sharing/60-pending.yaml").replaceAll("192Gi", "16Gi"));
  await expect(podRow(page, "huge-model")).toContainText("node-c");
  await expect(status(page)).toContainText("10 of 10 Pods placed");
  await expect(said).toHaveText("✓ All 10 Pods can start.");
});

test("each view begins at its top, and Why takes the focus along", async ({ page }) => {
  await open(page, TOUR);
  const panel = page.getByRole("tabpanel");
  await panel.evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
  await page.getByRole("tab", { name: "CEL" }).click();
  await expect(page.getByRole("textbox", { name: "CEL expression" })).toBeInViewport();
  await panel.evaluate((panel) => panel.scrollTo(0, 200));
  await page.getByRole("tab", { name: "Result" }).click();
  const said = page.getByRole("region", { name: "In one sentence" });
  await expect(said).toBeInViewport();
  await said.getByRole("button", { name: "Why" }).click();
  await expect(page.getByRole("tab", { name: /^Why/ })).toBeFocused();
});

test("at 1024 pixels the tabs stand on one line, with a count of two digits, too", async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  const pod = (name: string) => `---\napiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec: { containers: [{ name: m, image: x }], resourceClaims: [{ name: c, resourceClaimName: missing }] }\n`;
  await open(page, Array.from({ length: 12 }, (_, index) => pod(`p-${index}`)).join(""));
  await expect(page.getByRole("tab", { name: "Why 12" })).toBeVisible();
  const heights = await page.getByRole("tab").evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect()).map(({ top, height }) => [top, height]));
  expect(new Set(heights.map(String)).size).toBe(1);
});

test("the answer follows typing within 100 ms after the pause", async ({ page }) => {
  await open(page, TOUR);
  await podRow(page, "huge-model").getByRole("button", { name: "huge-model", exact: true }).click();
  await page.locator(".cm-line", { hasText: "name: huge-model" }).click();
  await page.keyboard.press("End");
  const times: number[] = [];
  for (let count = 1; count <= 5; count += 1) {
    await page.evaluate((name) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const waited = new Promise<number>((resolve) => {
        const onKey = async () => {
          const pressed = performance.now();
          while (!(document.getElementById("pods")?.textContent ?? "").includes(name)) await frame();
          resolve(performance.now() - pressed);
        };
        document.addEventListener("keydown", () => void onKey(), { capture: true, once: true });
      });
      Object.assign(globalThis, { waited });
    }, `huge-model${"x".repeat(count)}`);
    await page.keyboard.press("x");
    times.push(await page.evaluate(() => (globalThis as unknown as { waited: Promise<number> }).waited));
  }
  console.log(`answers after ${times.map((time) => Math.round(time)).join(", ")} ms, of which 40 are a pause`);
  // The best of five: the machine may do other things at the same time.
  expect(Math.min(...times)).toBeLessThan(140);
});

test("what is typed quickly is all there", async ({ page }) => {
  await open(page, TOUR);
  await editor(page).press("Control+End");
  const typed = "# one two three four five six seven eight nine ten";
  await page.keyboard.type(`${typed}`, { delay: 15 });
  await expect(page.locator(".cm-line").last()).toHaveText(typed);
  await expect(page.locator(".busy")).toHaveCount(0);
  await expect(page.locator(".cm-line").last()).toHaveText(typed);
});

test("broken YAML gives findings with lines and executes nothing", async ({ page }) => {
  const dialogs: string[] = [];
  page.on("dialog", async (dialog) => {
    dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  await open(page, "kind: [\n---\napiVersion: v1\nkind: <img src=x onerror=alert(1)>\nmetadata: { name: <script>alert(1)</script> }\n");
  const findings = page.getByRole("region", { name: "Findings" });
  await expect(findings).toContainText("yaml/syntax");
  await expect(findings).toContainText("<img src=x onerror=alert(1)>");
  await expect(page.locator("main img, main script")).toHaveCount(0);
  // Not that there are no Pods: nobody knows.
  await expect(page.getByRole("region", { name: "In one sentence" })).toContainText("Nothing can be said yet: ");
  await expect(page.getByText("No Pods yet")).toHaveCount(0);
  expect(dialogs).toEqual([]);
});

test("the mark of a selector's error stands below the place that is wrong", async ({ page }) => {
  await open(page, `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: wrong }
spec: { selectors: [{ cel: { expression: "true && device.memory > 4" } }] }
`);
  const source = page.locator("#panel code.source").first();
  await expect(source).toHaveText(/^true && device\.memory > 4\n\.+\^$/);
  expect(await source.evaluate((element) => getComputedStyle(element).whiteSpace)).toBe("pre");
});

test("a name that is markup is text in every place", async ({ page }) => {
  const name = "<img/src/onerror=alert(1)>";
  await open(page, TOUR.replaceAll("gpu-0", `"${name}"`).replaceAll("notebook", `"${name}"`));
  await expect(page.getByRole("group", { name: /^Devices by node/ })).toContainText("<img/src/oner");
  await expect(page.locator("main img")).toHaveCount(0);
});

test("nothing leaves the page, and an edit loads nothing", async ({ page, baseURL }) => {
  const requests: string[] = [];
  // The browser asks for the icon of a page when it likes, also long after everything else.
  const icon = `${baseURL}/icon.svg`;
  page.on("request", (request) => request.url() !== icon && requests.push(request.url()));
  await open(page);
  // Colours are the last to come, when everything else is there.
  await expect(page.locator(".cm-line [class*=tok-]").first()).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(requests.filter((url) => !url.startsWith(baseURL ?? "") && !url.startsWith("data:"))).toEqual([]);
  const count = requests.length;
  await podRow(page, "huge-model").getByRole("button", { name: /line \d+$/ }).first().click();
  await write(page, example("gpu-sharing/60-pending.yaml").replaceAll("192Gi", "16Gi"));
  await expect(status(page)).toContainText("10 of 10 Pods placed");
  expect(requests.slice(count)).toEqual([]);
  // What is offered where something is missing comes when it is needed, from the same place.
  await write(page, "kind: Pod\n");
  await settled(page);
  expect(requests.filter((url) => !url.startsWith(baseURL ?? "") && !url.startsWith("data:"))).toEqual([]);
});

test("on a slow network loading shows how far it is, and typing does not start it again", async ({ page }) => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let loads = 0;
  await page.route("**/*.wasm", async (route) => {
    loads += 1;
    await held;
    await route.continue();
  });
  await page.goto("./");
  await editor(page).press("Control+End");
  for (let count = 0; count < 6; count += 1) {
    await page.keyboard.type("#");
    await page.waitForTimeout(500);
  }
  await expect(page.locator(".busy")).toContainText("Loading the engine");
  release?.();
  await expect(pods(page)).toBeVisible();
  expect(loads).toBe(1);
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
    await open(page);
    expect(await violations(page)).toEqual([]);
    await open(page, BROKEN);
    await expect(podRow(page, "p")).toContainText("Pending");
    expect(await violations(page)).toEqual([]);
  });
}

test("what a column holds stands under its head, also where there is no device", async ({ page }) => {
  await open(page);
  const left = (element: Element) => element.getBoundingClientRect().left;
  const [head, none] = [pods(page).getByRole("columnheader", { name: "Device" }), podRow(page, "huge-model").getByRole("cell", { name: "no device" })];
  expect(await none.evaluate(left)).toBe(await head.evaluate(left));
  const nodes = page.getByRole("table", { name: "Nodes" });
  const align = (element: Element) => getComputedStyle(element).textAlign;
  expect(await nodes.getByRole("columnheader", { name: "Devices in use" }).evaluate(align)).toBe(await nodes.getByRole("cell", { name: "of" }).first().evaluate(align));
});
