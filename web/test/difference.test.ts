import type { PodDifference } from "apportion";
import { expect, test } from "vitest";

import { byFate, fates } from "../src/model/difference";
import * as words from "../src/views/words";

const [A, B] = [{ node: "a" }, { node: "b" }] as const;
const pods = ([
  ["ml/pod-10", A, B], ["ml/pod-2", A, B], ["ml/lost", B, "pending"], ["ml/new", "absent", "pending"], ["ml/helped", "pending", A], ["ml/gone", A, "absent"],
] as const).map(([pod, before, after]) => ({ pod, before, after }) as PodDifference);

test("Pods that lose their place come first, and one sentence counts them", () => {
  expect(byFate(pods).map(({ pod }) => pod)).toEqual(["ml/lost", "ml/helped", "ml/pod-2", "ml/pod-10", "ml/gone", "ml/new"]);
  expect(words.fates(fates(pods))).toBe(
    "1 Pod loses its place, 1 Pod gets a place, 2 Pods get another place, 1 Pod is not there, 1 Pod comes, and waits.",
  );
});
