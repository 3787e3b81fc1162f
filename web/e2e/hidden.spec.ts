// Characters that cannot be seen, or turn the text around, are written out wherever they stand.

import { expect } from "@playwright/test";

import { drop, open, pods, settled, tab, test } from "./helpers";

const HIDDEN = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;
const name = "a\u202eb\u2066c\u200bd\ufeffe";
const shown = "a\\u{202E}b\\u{2066}c\\u{200B}d\\u{FEFF}e";

const text = `apiVersion: v1
kind: Pod
metadata: { name: waits, namespace: ml }
spec:
  containers: [{ name: c, image: x, resources: { claims: [{ name: gpu }] } }]
  resourceClaims: [{ name: gpu, resourceClaimName: claim }]
---
apiVersion: v1
kind: Pod
metadata: { name: "${name}", namespace: ml }
spec: { containers: [{ name: c, image: x }] }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: "claim", namespace: ml }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: "${name}" } }] } }
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: slice }
spec:
  driver: gpu.example.com
  nodeName: "${name}"
  pool: { name: "${name}", generation: 1, resourceSliceCount: 1 }
  devices: [{ name: "${name}" }]
`;

test("a name with hidden characters shows them in the editor and in every view", async ({ page }) => {
  await open(page, text);
  await expect(page.locator(".cm-content")).toContainText(`name: "${shown}"`);
  await expect(pods(page)).toContainText("waits");
  await expect(page.locator("#panel")).toContainText(shown);
  const hidden = () => page.evaluate((source) => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const texts = node instanceof Element ? ["title", "aria-label", "alt", "placeholder"].map((name) => node.getAttribute(name) ?? "") : [node.textContent ?? ""];
      found.push(...texts.filter((text) => new RegExp(source).test(text)));
    }
    return found;
  }, HIDDEN.source);
  for (const view of ["Result", "Why", "Fit", "What-if", "Scores", "Compare", "Time", "CEL"]) {
    await tab(page, view).click();
    await settled(page);
    expect([view, await hidden()]).toEqual([view, []]);
  }
  // Fields leave them as they are, and say what they hold.
  const said = page.getByText("Characters that cannot be seen: \\u{202E} in line 2");
  await page.getByRole("textbox", { name: "CEL expression" }).fill("true &&\n\u202etrue");
  await expect(said).toBeVisible();
  await tab(page, "Compare").click();
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("another text");
  await page.getByRole("textbox", { name: "The other text" }).fill("# a\n# \u202eb\n");
  await expect(said).toBeVisible();
  await tab(page, "Time").click();
  await page.getByText("Script", { exact: true }).click();
  await page.getByRole("textbox", { name: "Script" }).fill("# a\n# \u202eb\n");
  await expect(said).toBeVisible();
  // The name of a file is as foreign as what is in it.
  await drop(page, { [`${name}.yaml`]: "kind: [\n" });
  await settled(page);
  await expect(page.getByRole("navigation", { name: "Files" })).toContainText(shown);
  await drop(page, { [`${name}.txt`]: "no manifest" });
  await expect(page.locator(".toast")).toContainText(shown);
  expect(await hidden()).toEqual([]);
});
