import { expect, test } from "vitest";

import { sessionOf } from "../src/answer/answer";
import { linksOf, middle } from "../src/model/links";
import { modelOf } from "../src/model/model";
import { ask, example, questionOf } from "./fixtures";

function links(text: string): string[] {
  const { report } = ask("run", text);
  const { users, claims, links } = linksOf(modelOf(sessionOf(questionOf(text)).inventory(), report).claims);
  return links.map(({ user, claim }) => `${users[user]?.kind} ${users[user]?.name} (${users[user]?.pods}) -> ${claims[claim]?.name}`);
}

test("a group has one line to the claim that its Pods share", () => {
  const lines = links(example("groups/shared-claim.yaml"));
  expect(lines.length).toBe(2);
  expect(lines[0]).toMatch(/^PodGroup blue \(2\) -> /);
  expect(lines[1]).toMatch(/^PodGroup red \(2\) -> /);
});

test("hundreds of Pods on one claim are one line", () => {
  expect(links(example("many-pods/"))).toEqual([expect.stringMatching(/^PodGroup workers \(300\) -> /)]);
});

test("Pods that share a claim each have a line to it", () => {
  const lines = links(example("gpu-sharing/"));
  expect(lines).toContain("Pod notebook (1) -> team-gpu");
  expect(lines).toContain("Pod profiler (1) -> team-gpu");
});

test("the entries of a list share its height evenly", () => {
  expect([0, 1].map((index) => middle(index, 2, 100))).toEqual([25, 75]);
});
