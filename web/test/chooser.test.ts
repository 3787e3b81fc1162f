import { expect, test } from "vitest";

import { matching } from "../src/parts";

const PODS = Array.from({ length: 400 }, (_, index) => ({ value: String(index), label: `Pod ml/Train-${index}` }));

test("of a long list the first few that match are offered, in any case", () => {
  expect(matching(PODS, "train-39", 50).map(({ value }) => value)).toEqual(["39", "390", "391", "392", "393", "394", "395", "396", "397", "398", "399"]);
  expect(matching(PODS, "", 50)).toHaveLength(50);
  expect(matching(PODS, "none", 50)).toEqual([]);
});
