import { expect, test } from "vitest";

import { format, parse, ratio } from "../src/model/quantity";

const N = 1_000_000_000n;

test("quantities are read exactly", () => {
  const read = ["1", "0.5", ".5", "1Ki", "1.5Gi", "2k", "100m", "1n", "1e3", "1E-3", "-1Mi", "1E", "9223372036854775807"].map(parse);
  expect(read).toEqual([
    N, N / 2n, N / 2n, 1024n * N, 1536n * 1024n * 1024n * N, 2000n * N, N / 10n, 1n, 1000n * N, N / 1000n, -1024n * 1024n * N,
    10n ** 18n * N, 9223372036854775807n * N,
  ]);
  for (const text of ["", ".", "Gi", "1 Gi", "1GiB", "1ki", "--1", "0x1"]) expect(parse(text)).toBeUndefined();
});

test("what is smaller than the smallest part is rounded up", () => {
  expect(parse("0.1n")).toBe(0n);
  expect(parse("1.5n")).toBe(1n);
});

test("sums are written in the units of the whole", () => {
  const sum = (one: string, other: string) => (parse(one) ?? 0n) + (parse(other) ?? 0n);
  expect(format(sum("10Gi", "20Gi"), "80Gi")).toBe("30Gi");
  expect(format(sum("512Mi", "1Gi"), "80Gi")).toBe("1536Mi");
  expect(format(sum("1k", "1k"), "8k")).toBe("2k");
  expect(format(sum("500m", "1"), "4")).toBe("1500m");
  expect(format(0n, "80Gi")).toBe("0");
  expect(format(-N, "4")).toBe("-1");
});

test("a part of a whole is between 0 and 1", () => {
  expect([ratio(N, 4n * N), ratio(5n * N, 4n * N), ratio(N, 0n), ratio(-N, N)]).toEqual([0.25, 1, 0, 0]);
});
