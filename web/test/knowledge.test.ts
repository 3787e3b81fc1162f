import { expect, test } from "vitest";

import { NOTHING_KNOWN, completions, leadsTo } from "../src/editor/knowledge";

const KNOWN = {
  ...NOTHING_KNOWN, classes: ["gpu.example.com", "nic.example.com"], templates: ["small"], drivers: ["gpu.example.com"],
  attributes: new Map([["gpu.example.com", ["index", "model"]]]), capacities: new Map([["gpu.example.com", ["memory"]]]),
};

test.each([
  ["        deviceClassName: gpu", ["gpu.example.com", "nic.example.com"], "gpu"],
  ["  - { name: gpu, exactly: { deviceClassName: ", ["gpu.example.com", "nic.example.com"], ""],
  ["    resourceClaimTemplateName: s", ["small"], "s"],
  ["allocationMode: E", ["ExactCount", "All"], "E"],
  [`expression: device.attributes["gpu.`, ["gpu.example.com"], "gpu."],
  [`expression: device.attributes['gpu.example.com'].mo`, ["index", "model"], "mo"],
  [`device.capacity["gpu.example.com"].`, ["memory"], ""],
  [`expression: device.driver == "`, ["gpu.example.com"], ""],
])("%s can go on", (line, options, begun) => {
  expect(completions(line, KNOWN)).toEqual({ from: line.length - begun.length, options });
});

test("nothing is offered where nothing is known", () => {
  for (const line of ["image: regis", "# deviceClassName", "resourceClaimName: ", "constructor: x", `device.attributes["other"].`]) {
    expect(completions(line, KNOWN)).toBeUndefined();
  }
});

test("a name leads to its object", () => {
  const line = "    resourceClaims: [{ name: gpu, resourceClaimTemplateName: small-gpu }]";
  expect(leadsTo(line, line.indexOf("small") + 2)).toEqual({ kinds: ["ResourceClaimTemplate"], name: "small-gpu" });
  expect(leadsTo(line, line.indexOf("name: gpu") + 7)).toBeUndefined();
});
