import type { PlacedFinding } from "apportion";
import { expect, test } from "vitest";

import { firstPending, headlineOf, plainOf } from "../src/model/headline";
import { ask, example } from "./fixtures";

/** What stands over the result of a text. */
function over(text: string, findings: PlacedFinding[] = []) {
  const result = ask("run", text);
  const subject = firstPending(result);
  const [explanation] = subject === undefined ? [] : ask("headline", text, { subject });
  return headlineOf(result, explanation && plainOf(explanation), findings);
}

test("the headline says who cannot start, what is asked for, and what is there", () => {
  expect(over(example("gpu-sharing/"))).toEqual({
    text: "1 of 10 Pods cannot start: huge-model asks for a GPU with at least 192Gi of `memory`; the largest GPU has 80Gi.",
    isGood: false, subject: { kind: "Pod", namespace: "ml", name: "huge-model" },
  });
});

test("where everything has its place the headline says so", () => {
  expect(over(example("gpu-sharing/").replaceAll("192Gi", "16Gi"))).toEqual({ text: "All 10 Pods can start.", isGood: true });
  expect(over("kind: Node\n")).toBeUndefined();
});

const pod = (name: string) => `---
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec: { containers: [{ name: m, image: x }], resourceClaims: [{ name: c, resourceClaimName: missing }] }
`;

test("of several Pods the first one by the order of numbers speaks, and the others are counted", () => {
  const said = over(pod("p-10") + pod("p-9") + pod("p-11"));
  expect(said?.subject?.name).toBe("p-9");
  expect(said?.text).toMatch(/^3 of 3 Pods cannot start: p-9: .*missing.*; and 2 more\.$/);
});

test("until it is known why, the Pod is named; what is known of another Pod is not said of this one", () => {
  const result = ask("run", pod("one"));
  const other = { subject: { kind: "Pod", namespace: "default", name: "two" }, text: "two: no" };
  expect(headlineOf(result, undefined, [])?.text).toBe("The Pod cannot start: one.");
  expect(headlineOf(result, other, [])?.text).toBe("The Pod cannot start: one.");
});

test("a certain correction of an error is offered beside it, and nothing that could not be made", () => {
  const finding: PlacedFinding = { code: "read/unknown-field", severity: "error", message: "m" };
  const fixable: PlacedFinding = { ...finding, fix: { rename: "x" }, place: { line: 1, column: 1, utf16Range: { start: 0, end: 1 }, isExact: true } };
  expect(over(pod("one"), [finding, { ...fixable, severity: "warning" }])).not.toHaveProperty("fix");
  expect(over(pod("one"), [finding, fixable])?.fix).toBe(fixable);
});

test("where no Pod could be taken the headline says what is wrong, and not that there are none", () => {
  const said = (text: string) => over(text, ask("run", text).findings)?.text;
  expect(said("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: p\n")).toBe("Nothing can be said yet: a tab is used as indentation.");
  const bad = pod("p").replace("name: p", 'name: "A B"');
  expect(said(bad + bad)).toMatch(/^Nothing can be said yet: `A B` is not a DNS subdomain.*; and 1 more error\.$/);
  expect(said("")).toBeUndefined();
});

test("of what a compiler draws, the headline has the first line", () => {
  const claim = pod("p").replaceAll("missing", "c") + `---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: c }
spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu, selectors: [{ cel: { expression: "device. ==" } }] } }] } }
`;
  expect(over(claim)?.text).toMatch(/compilation failed/);
  expect(over(claim)?.text).not.toContain("\n");
});
