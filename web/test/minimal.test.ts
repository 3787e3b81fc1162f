import { expect, test } from "vitest";

import { renamedField, requoted } from "../src/answer/minimal";
import { ask, example } from "./fixtures";

/** What an answer changes of the lines of a text. */
function changed(before: string, after: string | undefined): string[] {
  const [old, now] = [before.split("\n"), (after ?? "").split("\n")];
  return [...old.filter((line) => !now.includes(line)).map((line) => `-${line.trim()}`), ...now.filter((line) => !old.includes(line)).map((line) => `+${line.trim()}`)];
}

const TOUR = example("gpu-sharing/");

function suggested(text: string): string | undefined {
  const [explanation] = ask("why", text, { subject: { kind: "Pod", namespace: "ml", name: "huge-model" } });
  return ask("attempt", text, { manifests: explanation?.suggestions?.[0]?.manifests ?? [] }).text;
}

const selector = (memory: string) => `device.capacity["gpu.example.com"].memory.compareTo(quantity("${memory}")) >= 0`;

test("a suggestion adds no defaults and keeps the quotes", () => {
  for (const quoted of [(text: string) => text, (text: string) => `'${text}'`, (text: string) => JSON.stringify(text), (text: string) => `${text}   # all of it`]) {
    const text = TOUR.replace(selector("192Gi"), () => quoted(selector("192Gi")));
    expect(changed(text, suggested(text))).toEqual([`-expression: ${quoted(selector("192Gi"))}`, `+expression: ${quoted(selector("80Gi"))}`]);
  }
});

test("a name is corrected where it stands, in whatever style its object is written", () => {
  for (const field of ['deviceClasName: "gpu.example.com"', '"deviceClasName": gpu.example.com', "deviceClasName : 'gpu.example.com'"]) {
    for (const object of [`- exactly: { ${field} }`, `- exactly:\n        ${field}`]) {
      const text = `# mine\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: one }   # kept\nspec:\n  devices:\n    requests:\n    ${object}\n      name: gpu\n`;
      const finding = ask("check", text).find(({ fix }) => fix !== undefined);
      expect(ask("correct", text, { finding: finding! }).text).toBe(text.replace("deviceClasName", "deviceClassName"));
    }
  }
});

test("what would not be read as the same text stays in quotes", () => {
  for (const value of ["yes", "1.5", "a: b", "a #b", "- a", "@a", "a:", "\u00e4", "x\\ny"]) {
    expect(requoted("a: b c\n", `a: "${value}"\n`)).toBeUndefined();
  }
  expect(requoted("a: b c\n", 'a: "it\'s b"\n')).toBe("a: it's b\n");
  expect(requoted("a: 'b c'\n", 'a: "it\'s b"\n')).toBe("a: 'it''s b'\n");
  // No field of this name stands before the place.
  const place = { line: 1, column: 1, document: 0, isExact: true, utf16Range: { start: 3, end: 4 } };
  expect(renamedField("b: 1\n", { code: "read/unknown-field", severity: "warning", message: "", path: "a", place, fix: { rename: "c" } } as never)).toBeUndefined();
});
