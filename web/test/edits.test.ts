import { readYaml } from "apportion";
import { expect, test } from "vitest";

import { Session } from "../src/answer/session";
import { check } from "../src/answer/check";
import { run } from "../src/answer/run";
import { Reading } from "../src/answer/reading";
import { example, questionOf, slice } from "./fixtures";

/** Documents in several parts: each with much to skip before it. */
const SPACE = `# ${"-".repeat(97)}\n`.repeat(30);
const spaced = (documents: readonly string[]) => documents.map((document) => SPACE + document).join("---\n");

const pod = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, namespace: ml }\nspec:
  containers: [{ name: c, image: x, resources: { claims: [{ name: gpu }] } }]
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: small-gpu }]\n`;
const DOCUMENTS = [
  ...example("gpu-sharing/").split("---\n"), pod("one"), pod("two"),
  ...["x", "y"].map((node) => slice(node, "  - { name: gpu-0 }\n  - { name: gpu-1 }\n").replace("---\n", "")),
];

const told = (session: Session) => ({ run: run(session), check: check(session), inventory: session.inventory(), documents: session.reading.documents });

/** Numbers that are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("an edit reads only the parts that it touches", () => {
  const text = spaced(DOCUMENTS);
  const before = new Reading(text);
  expect(before.parts.length).toBeGreaterThan(5);
  const after = new Reading(text.replace("name: one", "name: uno"), before);
  expect(after.parts.filter((part) => !before.parts.includes(part)).length).toBe(1);
  expect(new Reading(text, before).parts).toEqual(before.parts);
});

/** What `kubectl get -o yaml` and `-o json` print of documents. */
const lists = {
  yaml: (documents: readonly string[]) => {
    const items = documents.map((document) => `- ${document.trimEnd().replaceAll("\n", "\n  ")}\n`);
    return `apiVersion: v1\nitems:\n${items.join("")}kind: List\nmetadata:\n  resourceVersion: ""\n`;
  },
  json: (documents: readonly string[]) => {
    const { stored } = new Reading(documents.join("---\n"));
    const items = stored.map(({ value }) => value);
    return JSON.stringify({ apiVersion: "v1", items, kind: "List" }, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value), 4);
  },
};
const MANY = [...DOCUMENTS, ...Array.from({ length: 120 }, (_, index) => pod(`more-${index}`))].filter((document) => !document.startsWith("#"));

for (const [kind, listed] of Object.entries(lists)) {
  test(`a list in ${kind} is read item by item, and what is found has its place in the text`, () => {
    const text = listed(MANY);
    const before = new Reading(text);
    expect(before.parts.length).toBeGreaterThan(2);
    const whole = readYaml(text);
    expect(before.documents).toEqual(whole.documents);
    expect(before.problems).toEqual(whole.problems);
    const fields = whole.documents.map(({ object }) => ({ object, path: "metadata.name" }));
    expect(before.locateAll(fields)).toEqual(whole.locateAll(fields));
    const session = new Session(questionOf(text));
    told(session);
    const edited = questionOf(text.replace("more-7", "changed"));
    const after = session.followedBy(edited);
    expect(after.reading.parts.filter((part) => !session.reading.parts.includes(part))).toHaveLength(1);
    expect(told(after)).toEqual(told(new Session(edited)));
    // An item that is not closed is named with its place, and the other items are still there.
    const at = text.indexOf("more-7") + "more-7".length;
    const broken = new Reading(`${text.slice(0, at)}": [${text.slice(at)}`, after.reading);
    const [problem] = broken.problems;
    expect(problem?.severity).toBe("error");
    expect(Math.abs((problem?.place?.line ?? 0) - text.slice(0, at).split("\n").length)).toBeLessThan(400);
    expect(broken.documents.length).toBeGreaterThan(MANY.length / 2);
  });
}

test("whatever is edited, the answer is that of the text read anew", { timeout: 120_000 }, () => {
  const random = numbers(29);
  let documents = [...DOCUMENTS];
  let session = new Session(questionOf(spaced(documents)));
  told(session);
  const edits: ((at: number) => void)[] = [
    (at) => (documents[at] += "# a comment\n"),
    (at) => (documents[at] = documents[at]?.replace(/name: (\w+)/, "name: $1-new") ?? ""),
    (at) => (documents[at] = documents[at]?.replace(/count: \d|8 *$|24Gi/, "3") ?? ""),
    (at) => documents.splice(at, 1),
    (at) => documents.splice(at, 0, pod(`more-${at}`)),
    () => documents.push(pod(`last-${documents.length}`)),
    (at) => documents.push(documents[at] ?? ""),
    (at) => (documents[at] += "spec: [\n"),
    (at) => (documents[at] = documents[at]?.replace("spec:", "spec:\n  unknown: 1") ?? ""),
    (at) => (documents[at] = documents[at]?.replace("kind: Pod", "kind: Pud").replace(/namespace: ml/, "namespace: NOT") ?? ""),
    (at) => (documents[at] = documents[at]?.replace("name:", "generateName:") ?? ""),
    (at) => (documents[at] = (DOCUMENTS[at % DOCUMENTS.length] ?? "")),
    () => (documents = [...DOCUMENTS]),
    (at) => documents.push("# {{ a template }}\n", documents[at] ?? ""),
  ];
  for (let count = 0; count < 15; count += 1) {
    edits[random(edits.length)]?.(random(documents.length));
    const question = questionOf(spaced(documents));
    session = session.followedBy(question);
    const fresh = new Session(question);
    expect(told(session), `edit ${count}`).toEqual(told(fresh));
    fresh.free();
  }
  session.free();
});

test("what is written beside the objects plays nothing again", { timeout: 30_000 }, () => {
  const text = spaced(DOCUMENTS);
  const before = new Session(questionOf(text));
  const [report, engine] = [before.report(), before.submitted()];
  const commented = before.followedBy(questionOf(text.replace("kind: Pod", "# here\nkind: Pod")));
  expect(commented.report()).toBe(report);
  const changed = commented.followedBy(questionOf(text.replace("name: two", "name: three")));
  expect(changed.report()).not.toBe(report);
  // A changed object takes the place of the old one.
  expect(changed.submitted()).toBe(engine);
  const back = changed.followedBy({ ...questionOf(text), version: "1.35" });
  expect(back.report()).not.toBe(report);
  back.free();
});

test("an edit that makes no difference to what there is leaves it as it is", { timeout: 30_000 }, () => {
  const text = spaced(DOCUMENTS);
  const before = new Session(questionOf(text));
  const inventory = before.inventory();
  const after = before.followedBy(questionOf(text.replace("image: x", "image: another")));
  expect(after.inventory()).toBe(inventory);
  // Neither what is asked for nor what stands elsewhere.
  const asking = after.followedBy(questionOf(text.replace("resourceClaimTemplateName: small-gpu", "resourceClaimTemplateName: large-gpu").replace("24Gi", "1Gi")));
  expect(asking.inventory()).toEqual(new Session(asking.question).inventory());
  const other = asking.followedBy(questionOf(text.replace("name: gpu-1", "name: gpu-7")));
  expect(other.inventory()).not.toEqual(inventory);
  expect(other.inventory()).toEqual(new Session(other.question).inventory());
  other.free();
});

test("what an edit does not change is the same object: it need not be sent and drawn again", () => {
  const text = spaced(DOCUMENTS);
  const answers = [text, text.replace("namespace: ml", "namespace:  ml"), text.replace("image: x", "image: z"), text.replace("name: one", "name: uno")];
  let session: Session | undefined;
  const reports = answers.map((text) => {
    session = session === undefined ? new Session(questionOf(text)) : session.followedBy(questionOf(text));
    return run(session).report;
  });
  session?.free();
  expect(reports[1]).toBe(reports[0]);
  expect(reports[2]).toBe(reports[0]);
  expect(reports[3]).not.toEqual(reports[0]);
});
