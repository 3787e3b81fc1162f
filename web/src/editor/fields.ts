// Where a cursor is in a manifest, and which fields can stand there: from the schemas by which manifests are checked.

import { KINDS, TYPES } from "./schema";

/** What a field is. */
export interface FieldInfo {
  name: string;
  /** `list of objects`, `text`. */
  holds: string;
  /** Fields of the objects that it holds. */
  fields: readonly string[];
  /** `since 1.36`, `until 1.36`, `in 1.35 alone`; empty for a field of every version. */
  era: string;
}

/** Keys from the object to a place, those of lists left out; and the keys that stand beside it. */
export interface Spot {
  kind: string;
  path: readonly string[];
  siblings: readonly string[];
}

export const TRUE_OR_FALSE = "true or false";

const NAMES: Readonly<Record<string, string>> = {
  text: "text", boolean: TRUE_OR_FALSE, integer: "whole number", quantity: "quantity, such as 40Gi", time: "time, such as 2026-01-31T12:00:00Z", any: "anything",
};

/** A key with its dashes and blanks before it, and what is behind it. */
const KEY = /^((?:\s|-\s)*)["']?([\w./-]+)["']?:(?:\s+(.*))?$/;

/** Fields that can stand at a spot and do not yet. */
export function fieldsAt({ kind, path, siblings }: Spot): FieldInfo[] {
  const type = typeAt(kind, path);
  if (type === undefined) return [];
  return Object.keys(type).filter((name) => !siblings.includes(name)).map((name) => infoOf(name, type[name] ?? ""));
}

/** What the field at the end of a path is. */
export function fieldOf(kind: string, path: readonly string[]): FieldInfo | undefined {
  const name = path.at(-1) ?? "";
  const type = typeAt(kind, path.slice(0, -1));
  return type !== undefined && Object.hasOwn(type, name) ? infoOf(name, type[name] ?? "") : undefined;
}

/** Kinds whose shape is known, and the API versions in which they are. */
export const kinds = ["Namespace", "Node", ...new Set(Object.keys(KINDS).map((key) => key.split(" ")[1] ?? ""))].filter((kind) => kind !== "").sort();
export const apiVersions = ["apps/v1", "batch/v1", ...new Set(Object.keys(KINDS).flatMap((key) => (/\bv\d/.test(key) ? [key.split(" ")[0] ?? ""] : [])))].sort();

function typeAt(kind: string, path: readonly string[]): Readonly<Record<string, string>> | undefined {
  const [any, own] = [TYPES[KINDS[""] ?? -1], TYPES[KINDS[kind] ?? KINDS[kind.replace(/\/\S+|^v\d\w*(?= )/, "")] ?? -1]];
  let type: Readonly<Record<string, string>> | undefined = { ...any, ...own };
  for (let at = 0; at < path.length && type !== undefined; at += 1) {
    const name = path[at] ?? "";
    const { base, wrapped } = parsed(Object.hasOwn(type, name) ? (type[name] ?? "") : "");
    // The key of an object whose keys are free is no field.
    at += wrapped.split("{}").length - 1;
    if (at >= path.length) return undefined;
    type = /^\d+$/.test(base) ? TYPES[Number(base)] : undefined;
  }
  return type;
}

function parsed(holds: string): { base: string; wrapped: string; era: string } {
  const [, base = "", wrapped = "", era = ""] = /^(\w*)((?:\[\]|\{\})*)(?: (.*))?$/.exec(holds) ?? [];
  return { base, wrapped, era };
}

function infoOf(name: string, held: string): FieldInfo {
  const { base, wrapped, era } = parsed(held);
  const inner = /^\d+$/.test(base) ? Object.keys(TYPES[Number(base)] ?? {}) : undefined;
  const one = inner === undefined ? (NAMES[base] ?? base) : "object";
  const holds = wrapped.startsWith("[]") ? `list of ${inner === undefined ? one : "objects"}` : wrapped.startsWith("{}") ? `any keys, each with ${one}` : one;
  return { name, holds, fields: inner ?? [], era };
}

/** Where the end of the first lines is, of lines of one document. Nothing inside of a text of several lines. */
export function spotAt(lines: readonly string[], line: number, column: number): (Spot & { begun: string; isKey: boolean; key: string }) | undefined {
  const current = lines[line] ?? "";
  const flow = flowAt(current.slice(0, column));
  const indent = /^(?:\s|-\s)*/.exec(current)?.[0] ?? "";
  if (flow === undefined || column < indent.length) return undefined;
  const { own, begun, isKey, key, siblings } = flow;
  const above = ancestors(lines, line, indent);
  if (above === undefined) return undefined;
  const beside = own.length > 0 ? siblings : neighbours(lines, line, indent);
  return { kind: kindOf(lines), path: [...above, ...own], siblings: beside, begun, isKey, key };
}

/** What the beginning of a line says: keys of `{ }` that are open, and whether a key or its value is begun. */
function flowAt(text: string): { own: string[]; begun: string; isKey: boolean; key: string; siblings: string[] } | undefined {
  const content = text.replace(/^(?:\s|-\s)*/, "");
  if (content.startsWith("#")) return undefined;
  const open: { key: string; siblings: string[]; isObject: boolean }[] = [];
  let [key, token, isValue] = ["", "", false];
  let siblings: string[] = [];
  for (let at = 0; at < content.length; at += 1) {
    const char = content[at] ?? "";
    const quoted = /["']/.test(char) && token.trim() === "" ? content.indexOf(char, at + 1) : 0;
    if (quoted === -1) return undefined;
    if (quoted > 0) {
      token = content.slice(at + 1, quoted);
      at = quoted;
    } else if ((char === "{" || char === "[") && token.trim() === "") {
      open.push({ key, siblings, isObject: char === "{" });
      [token, isValue, siblings, key] = ["", char === "[", [], ""];
    } else if ((char === "}" || char === "]") && open.length > 0) {
      ({ key = "", siblings = [] } = open.pop() ?? {});
      [token, isValue] = [" ", true];
    } else if (char === "," && open.length > 0) {
      token = "";
      if (open.at(-1)?.isObject === true) [key, isValue] = ["", false];
    } else if (char === ":" && !isValue && /\s/.test(content[at + 1] ?? " ")) {
      key = token.trim();
      siblings.push(key);
      [token, isValue] = ["", true];
    } else token += char;
  }
  const own = open.flatMap(({ key }) => (key === "" ? [] : [key]));
  const begun = token.trimStart();
  if (!isValue && !/^[\w./-]*$/.test(begun)) return undefined;
  return { own, begun, isKey: !isValue, key, siblings };
}

/** Keys above a line with this indentation, outermost first; nothing inside of a text of several lines. */
function ancestors(lines: readonly string[], line: number, indent: string): string[] | undefined {
  const path: string[] = [];
  let column = indent.length;
  // A list may stand as far left as the key that it belongs to.
  let limit = limitOf(indent);
  for (let at = line - 1; at >= 0 && limit > 0; at -= 1) {
    const [, before, key, value = ""] = KEY.exec(lines[at] ?? "") ?? [];
    if (before === undefined || key === undefined) continue;
    if (before.length < limit) {
      if (/^[|>][-+\d]*\s*(#.*)?$/.test(value)) return undefined;
      if (value !== "" && !value.startsWith("#")) continue;
      path.unshift(key);
      column = before.length;
      limit = limitOf(before);
    } else if (before.length === column && before.includes("-")) limit = Math.min(limit, limitOf(before));
  }
  return path;
}

function limitOf(indent: string): number {
  const dash = indent.lastIndexOf("-");
  return dash === -1 ? indent.length : dash + 1;
}

/** Keys that stand in the same object as a line. */
function neighbours(lines: readonly string[], line: number, indent: string): string[] {
  const found: string[] = [];
  const look = (step: 1 | -1) => {
    for (let at = line + step; at >= 0 && at < lines.length; at += step) {
      const text = lines[at] ?? "";
      if (text.trim() === "" || text.trimStart().startsWith("#")) continue;
      const before = /^(?:\s|-\s)*/.exec(text)?.[0] ?? "";
      if (before.length < indent.length || (step === 1 && before.length === indent.length && before.includes("-"))) return;
      const [, own, key] = KEY.exec(text) ?? [];
      if (own?.length === indent.length && key !== undefined) found.push(key);
      if (step === -1 && before.length === indent.length && before.includes("-")) return;
    }
  };
  if (!indent.includes("-")) look(-1);
  look(1);
  return found;
}

function kindOf(lines: readonly string[]): string {
  const of = (name: string) => lines.map((line) => new RegExp(`^${name}:\\s+["']?([\\w./-]+)`).exec(line)?.[1]).find((value) => value !== undefined) ?? "";
  return `${of("apiVersion")} ${of("kind")}`;
}
