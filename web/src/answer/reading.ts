// A text in parts that are read one without another: an edit costs the parts that it touches.

import { type Field, type Finding, type ManifestDocument, Manifests, type ObjectRef, type Place, type PlacedFinding, readYaml } from "apportion";

import { difference } from "../files";
import type { Stored } from "../model/inventory";

/** Characters that a part has at least, the last one apart. */
const SIZE = 8_000;

/** Cut before a line that is nothing but this. */
const SEPARATOR = "\n---\n";

/** Documents that stand together. What is found in them is found once. */
export class Part {
  readonly length: number;
  /** Line breaks in it. */
  readonly lines: number;
  readonly manifests: Manifests;
  #stored: Stored[] | undefined;
  /** What the API server says to each document that can be sent, and under which settings. */
  checked: { settings: string; findings: readonly (readonly Finding[])[] } | undefined;

  constructor(text: string) {
    this.length = text.length;
    this.lines = text.split("\n").length - 1;
    this.manifests = readYaml(text);
  }

  /** The objects that `kubectl` does not refuse, older versions as they are. */
  get stored(): readonly Stored[] {
    this.#stored ??= this.manifests.documents.flatMap(({ object, isRefused }, number) =>
      isRefused ? [] : [{ object, value: this.manifests.json(number) }],
    );
    return this.#stored;
  }
}

/** Where a part begins: characters, line breaks and documents before it. */
interface Start {
  at: number;
  line: number;
  document: number;
}

/** A text with all its documents. */
export class Reading {
  readonly text: string;
  readonly parts: readonly Part[];
  readonly #starts: Start[] = [];
  /** Of each object the last document, as the part and the number in the text. */
  #last: Map<string, { part: number; document: number }> | undefined;

  /** With the parts of an earlier text that are still the same. */
  constructor(text: string, before?: Reading) {
    this.text = text;
    this.parts = before === undefined ? cut(text).map((part) => new Part(part)) : followed(text, before);
    const next: Start = { at: 0, line: 0, document: 0 };
    for (const { length, lines, manifests } of this.parts) {
      this.#starts.push({ ...next });
      next.at += length;
      next.line += lines;
      next.document += manifests.documents.length;
    }
  }

  get documents(): ManifestDocument[] {
    return this.#all(({ manifests }, start) => manifests.documents.map((document) => ({
      ...document, line: document.line + start.line, utf16Range: moved(document.utf16Range, start),
    })));
  }

  /** What the reader has to tell, in the order of the text. */
  get problems(): PlacedFinding[] {
    return this.inPlace(({ manifests }) => manifests.problems);
  }

  get stored(): Stored[] {
    return this.parts.flatMap(({ stored }) => stored);
  }

  /** Findings of each part, with their places in the text. */
  inPlace(findings: (part: Part) => readonly PlacedFinding[]): PlacedFinding[] {
    return this.#all((part, start) => findings(part).map((finding) =>
      finding.place === undefined ? finding : { ...finding, place: placed(finding.place, start) },
    ));
  }

  /** Where fields stand; of two documents of one object the later counts. */
  locateAll(fields: readonly Field[]): (Place | undefined)[] {
    const found = new Array<Place | undefined>(fields.length).fill(undefined);
    const byPart = new Map<number, number[]>();
    for (const [index, { object }] of fields.entries()) {
      const part = this.#partOf(object);
      if (part === undefined) continue;
      const others = byPart.get(part);
      if (others === undefined) byPart.set(part, [index]);
      else others.push(index);
    }
    for (const [number, indices] of byPart) {
      const [part, start] = [this.parts[number], this.#starts[number]];
      if (part === undefined || start === undefined) continue;
      const places = part.manifests.locateAll(indices.flatMap((index) => fields[index] ?? []));
      for (const [at, index] of indices.entries()) {
        const place = places[at];
        if (place !== undefined) found[index] = placed(place, start);
      }
    }
    return found;
  }

  /** Does something with the text as one, where a change may touch any part of it. */
  whole<Value>(use: (manifests: Manifests) => Value): Value {
    const manifests = readYaml(this.text);
    try {
      return use(manifests);
    } finally {
      manifests.free();
    }
  }

  /** Gives the memory back, but that of the parts which another reading has. */
  free(kept?: Reading): void {
    const stay = new Set(kept?.parts);
    for (const part of this.parts) if (!stay.has(part)) part.manifests.free();
  }

  #all<Value>(of: (part: Part, start: Start) => readonly Value[]): Value[] {
    return this.parts.flatMap((part, number) => of(part, this.#starts[number] ?? { at: 0, line: 0, document: 0 }));
  }

  #partOf({ kind, namespace, name }: ObjectRef): number | undefined {
    if (this.#last === undefined) {
      this.#last = new Map();
      let document = 0;
      for (const [part, { manifests }] of this.parts.entries()) {
        for (const { object } of manifests.documents) this.#last.set(JSON.stringify([object.kind, object.namespace, object.name]), { part, document: document++ });
      }
    }
    const at = (namespace: string) => this.#last?.get(JSON.stringify([kind, namespace, name]));
    const own = at(namespace);
    // A namespaced object without a namespace goes to `default`.
    const other = namespace === "default" ? at("") : undefined;
    return (other !== undefined && (own === undefined || other.document > own.document) ? other : own)?.part;
  }
}

/** JSON values may stand one behind the other, and what a template is shows only in the whole: such a text is one part. */
function isOne(text: string): boolean {
  return /^\s*\{/.test(text) || text.includes("{{");
}

function cut(text: string): string[] {
  if (isOne(text)) return [text];
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf(SEPARATOR, at + SIZE);
    const end = found === -1 ? text.length : found + 1;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** The parts of a text: those of an earlier one before and behind what differs, and new ones between. */
function followed(text: string, before: Reading): Part[] {
  if (text === before.text) return [...before.parts];
  if (isOne(text) || isOne(before.text)) return cut(text).map((part) => new Part(part));
  const { start, beforeEnd } = difference(before.text, text);
  const { parts } = before;
  let [head, from] = [0, 0];
  // The separator behind a part must be there as before, and so must the line break before a part.
  for (let part = parts[head]; part !== undefined && from + part.length + SEPARATOR.length <= start + 1; part = parts[head]) {
    from += part.length;
    head += 1;
  }
  let [tail, to] = [parts.length, before.text.length];
  for (let part = parts[tail - 1]; tail > head && part !== undefined && to - part.length > beforeEnd; part = parts[tail - 1]) {
    to -= part.length;
    tail -= 1;
  }
  const between = text.slice(from, text.length - (before.text.length - to));
  return [...parts.slice(0, head), ...cut(between).map((part) => new Part(part)), ...parts.slice(tail)];
}

function placed(place: Place, start: Start): Place {
  return {
    ...place, line: place.line + start.line, utf16Range: moved(place.utf16Range, start),
    ...(place.document === undefined ? {} : { document: place.document + start.document }),
  };
}

function moved({ start, end }: Place["utf16Range"], { at }: Start): Place["utf16Range"] {
  return { start: start + at, end: end + at };
}
