// Refusals as a matrix: for each node, how many devices each reason keeps from a request.

import type { Explanation, ReasonKind } from "apportion";

export interface Matrix {
  /** Kinds of reasons that occur, the hardest to remove first. */
  kinds: ReasonKind[];
  rows: MatrixRow[];
}

export interface MatrixRow {
  node: string;
  request: string;
  needed: number;
  usable: number;
  /** Devices with a reason of each of the kinds, in their order. */
  counts: number[];
  /** Texts of these reasons, each once. */
  texts: string[][];
  /** Pools that cannot be used, and why. */
  pools: readonly string[];
}

const KINDS: readonly ReasonKind[] = [
  "notOfClass", "poolOutdated", "poolIncomplete", "poolInvalid", "noNode", "otherNode", "selectorFails", "selectorFalse", "featureOff", "needsDriver",
  "constraintMissing", "capacityNever", "counterNever", "constraintConflict", "tainted", "otherGroup", "counterShort", "capacityShort", "inUse",
];

/** A row for each node and request. */
export function matrixOf({ details = [] }: Pick<Explanation, "details">): Matrix {
  const rows = details.flatMap(({ name, pools, requests }) =>
    requests.map(({ claim, request, needed, usable, devices }) => {
      const texts = new Map<ReasonKind, Map<string, number>>();
      for (const { reasons } of devices) {
        for (const kind of new Set(reasons.map(({ kind }) => kind))) {
          const known = texts.get(kind) ?? new Map<string, number>();
          const text = reasons.find((reason) => reason.kind === kind)?.text ?? "";
          texts.set(kind, known.set(text, (known.get(text) ?? 0) + 1));
        }
      }
      return { node: name, request: claim === "" ? request : `${claim}: ${request}`, needed: Number(needed), usable: Number(usable), pools, found: texts };
    }),
  );
  const kinds = KINDS.filter((kind) => rows.some(({ found }) => found.has(kind)));
  return {
    kinds,
    rows: rows.map(({ found, ...row }) => {
      const each = kinds.map((kind) => found.get(kind) ?? new Map<string, number>());
      return { ...row, counts: each.map((texts) => [...texts.values()].reduce((sum, count) => sum + count, 0)), texts: each.map((texts) => [...texts.keys()]) };
    }),
  };
}
