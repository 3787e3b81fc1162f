// Expressions against devices, and the devices of a class.

import { type Engine, RequestError } from "apportion";

import { list, record, text } from "../foreign";
import { deviceKey } from "../model/inventory";
import type { CelAnswer } from "../protocol";

export function cel(engine: Engine, expression: string, device: string): CelAnswer {
  try {
    return { status: "evaluated", answers: engine.expression(expression, device) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { status: "refused", message: error.findings.map(({ message }) => message).join("\n") };
  }
}

/** Keys of the devices for which all selectors of a class hold. */
export function members(engine: Engine, name: string): string[] {
  const found = engine.get({ kind: "DeviceClass", namespace: "", name });
  if (found === undefined) return [];
  const spec = record(record(found).spec);
  const expressions = list(spec.selectors).map((selector) => text(record(record(selector).cel).expression));
  // A class without selectors selects everything.
  const asked = expressions.length === 0 ? ["true"] : expressions;
  const each = asked.map((expression) => {
    const answer = cel(engine, expression, "");
    if (answer.status === "refused") return new Set<string>();
    return new Set(answer.answers.filter(({ parts }) => parts[0]?.value === "true").map(({ device }) => deviceKey(device)));
  });
  return [...(each[0] ?? [])].filter((key) => each.every((set) => set.has(key)));
}
