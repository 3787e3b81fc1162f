// The order of names, the same wherever there are some.

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** `node-2` before `node-10`. */
export function compareNumbered(one: string, other: string): number {
  return COLLATOR.compare(one, other) || (one < other ? -1 : one > other ? 1 : 0);
}
