// The answer in one sentence, said before everything else.

import type { Explanation, ObjectRef, PlacedFinding } from "apportion";

import type { Result } from "../protocol";
import { canStart, cannotStart, noPods } from "../words";
import { compareNumbered } from "./order";

/** What is known of one Pod that waits, in plain words. */
export interface Plain {
  subject: ObjectRef;
  text: string;
}

export interface Headline {
  /** Texts between backticks are names. */
  text: string;
  isGood: boolean;
  /** The first Pod that waits. */
  subject?: ObjectRef;
  /** What is wrong with the text and has a certain correction. */
  fix?: PlacedFinding;
}

/** Of the Pods that wait the first one by name. */
export function firstPending({ report }: Result): ObjectRef | undefined {
  let [first, ...others] = report.pods.filter(({ node }) => node === undefined);
  if (first === undefined) return undefined;
  for (const pod of others) if (compareNumbered(`${pod.namespace}/${pod.name}`, `${first.namespace}/${first.name}`) < 0) first = pod;
  return { kind: "Pod", namespace: first.namespace, name: first.name };
}

/** `huge-model asks for a GPU with at least 192Gi of memory; the largest GPU has 80Gi`. */
export function plainOf({ subject, plain, headline }: Explanation): Plain {
  return { subject, text: plain === undefined ? `${subject.name}: ${headline}` : `${subject.name} ${plain}` };
}

/** Nothing where there are no Pods and nothing is wrong: then the page says what belongs there. */
export function headlineOf(result: Result, plain: Plain | undefined, findings: readonly PlacedFinding[]): Headline | undefined {
  const { pods } = result.report;
  const errors = findings.filter(({ severity }) => severity === "error");
  const fix = errors.find(({ fix, place }) => fix !== undefined && place !== undefined);
  const more = fix === undefined ? {} : { fix };
  const [first] = errors;
  if (pods.length === 0) return first && { text: noPods(beginning(first.message), errors.length - 1), isGood: false, ...more };
  const subject = firstPending(result);
  if (subject === undefined) return { text: canStart(pods.length), isGood: true, ...more };
  const isOfIt = plain !== undefined && plain.subject.namespace === subject.namespace && plain.subject.name === subject.name;
  const pending = pods.filter(({ node }) => node === undefined).length;
  return { text: cannotStart(pending, pods.length, isOfIt ? beginning(plain.text) : subject.name), isGood: false, subject, ...more };
}

/** The first line: what a compiler draws below it is for those who look closer. */
function beginning(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
