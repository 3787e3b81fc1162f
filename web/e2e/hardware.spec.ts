// Hardware to add: offered in place, chosen, or pasted.

import { expect } from "@playwright/test";

import { editor, open, podRow, status, tab, test, violations } from "./helpers";

const PASTE = `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { name: single-gpu }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.nvidia.com } }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: pod }
spec:
  containers: [{ name: ctr, image: ubuntu, resources: { claims: [{ name: gpu }] } }]
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: single-gpu }]
`;

test("what most documents suggest gets its picture with one click", async ({ page }) => {
  await open(page, PASTE);
  const offer = page.getByRole("region", { name: "Hardware for what is asked for" });
  await expect(offer).toContainText("The text asks for gpu.nvidia.com, and has no devices for it.");
  expect(await violations(page)).toEqual([]);
  // The headline leads to Why, where it is offered as well.
  for (const view of ["Why", "Fit", "What-if", "Scores", "Result"]) {
    await tab(page, view).click();
    await expect(offer).toBeVisible();
  }
  await offer.getByRole("button", { name: "Try with 2 nodes of 8 H100" }).click();
  await expect(podRow(page, "pod")).toContainText("aks-ndh100v5-0");
  await expect(page.locator(".picture .tile")).toHaveCount(16);
  await expect(offer).toHaveCount(0);
  await expect(editor(page)).toContainText("DeviceClass");
});

test("hardware is chosen by model, nodes and devices", async ({ page }) => {
  await open(page, PASTE);
  await page.getByRole("button", { name: "Choose hardware" }).click();
  const dialog = page.getByRole("dialog", { name: "Add hardware" });
  await dialog.getByRole("combobox", { name: "Model" }).selectOption("NVIDIA: A100");
  await expect(dialog.getByRole("spinbutton", { name: "Devices per node" })).toBeEnabled();
  await dialog.getByRole("spinbutton", { name: "Devices per node" }).fill("4");
  await dialog.getByRole("spinbutton", { name: "Nodes" }).fill("3");
  await dialog.getByRole("spinbutton", { name: "Nodes" }).press("Tab");
  await expect(dialog.getByRole("textbox", { name: "Command for hardware alone" })).toHaveValue(/^kubectl get deviceclasses,resourceslices/);
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.locator(".picture .tile")).toHaveCount(12);
  await expect(status(page)).toContainText("3 nodes");
  // Partitions are the driver's to say.
  await page.getByRole("button", { name: "Hardware", exact: true }).click();
  await dialog.getByRole("combobox", { name: "Model" }).selectOption("NVIDIA: A100, MIG partitions");
  await expect(dialog.getByRole("spinbutton", { name: "Devices per node" })).toBeDisabled();
});

test("what one's own cluster has is pasted beside the rest", async ({ page }) => {
  await open(page, PASTE);
  await page.getByRole("button", { name: "Hardware", exact: true }).click();
  await page.getByRole("textbox", { name: "Classes and slices" }).fill("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: { name: gpu.nvidia.com }\nspec: {}\n");
  await page.getByRole("button", { name: "Add what is pasted" }).click();
  await expect(page.getByRole("navigation", { name: "Files" }).getByRole("button")).toHaveText(["cluster.yaml", "hardware.yaml"]);
});
