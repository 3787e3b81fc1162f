// Values that others wrote, taken apart without trusting them.

export type Fields = Record<string, unknown>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function record(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether two values say the same. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  if (!isRecord(one) || !isRecord(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]));
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "bigint" ? String(value) : "";
}
