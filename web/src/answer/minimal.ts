// Changes of the text that leave the rest as it is written: quotes, layout, fields that are left to their defaults.

import { type Json, type PlacedFinding, readYaml } from "apportion";

import { isRecord } from "../foreign";

/** What the API server fills in where a claim says nothing. */
const DEFAULTS: Readonly<Record<string, string>> = { allocationMode: `"ExactCount"`, count: "1", namespace: `"default"` };

/** A changed object without the defaults that the written one leaves out. */
export function lean(changed: Json, written: unknown): Json {
  if (Array.isArray(changed) && Array.isArray(written)) {
    const named = (entry: Json) => written.find((other) => isRecord(other) && isRecord(entry) && other.name !== undefined && other.name === entry.name);
    return changed.map((entry, index) => lean(entry, named(entry) ?? (changed.length === written.length ? written[index] : undefined)));
  }
  if (!isRecord(changed) || !isRecord(written)) return changed;
  const isFilledIn = (name: string, value: unknown) => !Object.hasOwn(written, name) && String(typeof value === "bigint" ? value : JSON.stringify(value)) === DEFAULTS[name];
  return Object.fromEntries(Object.entries(changed).flatMap(([name, value]) => (isFilledIn(name, value) ? [] : [[name, lean(value as Json, written[name])]])));
}

/** A line with one field, and a text of one line as its value. */
const FIELD = /^(\s*(?:- +)*[\w./-]+: +)("(?:[^"\\]|\\.)*"|[^\s"].*?)( +#.*)?$/;

/** The changed text in which each text has the quotes that it had before; undefined where nothing is different. */
export function requoted(before: string, after: string): string | undefined {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = old.slice(start, old.length - end);
  let [next, isOther] = [0, false];
  for (let line = start; line < now.length - end; line += 1) {
    const [, field, value = "", remark = ""] = FIELD.exec(now[line] ?? "") ?? [];
    const at = field === undefined ? -1 : middle.findIndex((text, index) => index >= next && text.startsWith(field));
    if (at === -1 || field === undefined) continue;
    next = at + 1;
    const styled = inStyle(FIELD.exec(middle[at] ?? "")?.[2] ?? "", value);
    if (styled === undefined || styled === value) continue;
    now[line] = field + styled + remark;
    isOther = true;
  }
  return isOther ? now.join("\n") : undefined;
}

/** A text in JSON's quotes as another one is written: bare, or in single quotes. */
function inStyle(model: string, quoted: string): string | undefined {
  if (!quoted.startsWith('"') || /^["|>&*!{[]/.test(model) || model === "") return undefined;
  const value = textOf(quoted);
  if (value === undefined || !/^[\x20-\x7e]*$/.test(value)) return undefined;
  if (model.startsWith("'")) return `'${value.replaceAll("'", "''")}'`;
  // Nothing that a reader takes for the start of something else, the end of the text, or no text at all.
  const isBare = /^[A-Za-z(]/.test(value) && !/: | #|[: ]$/.test(value) && /[^\w.]/.test(value);
  return isBare ? value : undefined;
}

function textOf(quoted: string): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text with the other name of a field in its place, where a finding wants no more than that. */
export function renamedField(text: string, { fix, path, place }: PlacedFinding): string | undefined {
  const to = isRecord(fix) && "rename" in fix ? fix.rename : undefined;
  const from = path?.split(".").at(-1) ?? "";
  if (to === undefined || place === undefined || !/^\w+$/.test(from + to)) return undefined;
  const head = text.slice(0, place.utf16Range.start);
  const [key] = new RegExp(`(?<![\\w.-])${from}["']?\\s*:\\s*$`).exec(head.slice(-500)) ?? [];
  if (key === undefined) return undefined;
  const at = place.utf16Range.start - key.length;
  return text.slice(0, at) + to + text.slice(at + from.length);
}

/** The first of two texts where it says the same as the second, else that. */
export function ifSame(wish: string | undefined, sure: string): string {
  if (wish === undefined) return sure;
  const values = [wish, sure].map((text) => {
    const manifests = readYaml(text);
    try {
      const problems = manifests.problems.filter(({ severity }) => severity === "error").length;
      return JSON.stringify([problems, ...manifests.documents.map((_, number) => manifests.json(number))], (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
    } finally {
      manifests.free();
    }
  });
  return values[0] === values[1] ? wish : sure;
}
