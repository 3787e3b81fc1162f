// A text in parts that are read one without another: an edit costs the parts that it touches.

import { type Field, type Finding, type ManifestDocument, Manifests, type ObjectRef, type Place, type PlacedFinding, readYaml } from "apportion";

import { difference, lineBreaks } from "../files";
import type { Stored } from "../model/inventory";
import { type Piece, cut } from "./cutting";

/** A piece that was read. What is found in it is found once. */
export class Part implements Piece {
  readonly length: number;
  readonly before: string;
  readonly after: string;
  /** Line breaks in it. */
  readonly lines: number;
  /** Of the piece with what stands around it. */
  readonly manifests: Manifests;
  #stored: Stored[] | undefined;
  readonly #places = new Map<string, Place | undefined>();
  /** What the API server says to each document that can be sent, and under which settings. */
  checked: { settings: string; findings: readonly (readonly Finding[])[] } | undefined;

  constructor(text: string, { before, after }: Piece) {
    [this.length, this.before, this.after] = [text.length, before, after];
    this.lines = lineBreaks(text);
    this.manifests = readYaml(before + text + after);
  }

  /** The objects that `kubectl` does not refuse, older versions as they are. */
  get stored(): readonly Stored[] {
    this.#stored ??= this.manifests.documents.flatMap(({ object, isRefused }, number) =>
      isRefused ? [] : [{ object, value: this.manifests.json(number) }],
    );
    return this.#stored;
  }

  /** Where fields stand in it, each looked for once. */
  locateAll(fields: readonly Field[]): (Place | undefined)[] {
    const keys = fields.map(({ object: { kind, namespace, name }, path = "" }) => JSON.stringify([kind, namespace, name, path]));
    const wanted = [...new Map(fields.map((field, index): [string, Field] => [keys[index] ?? "", field]))].filter(([key]) => !this.#places.has(key));
    const places = wanted.length === 0 ? [] : this.manifests.locateAll(wanted.map(([, field]) => field));
    for (const [index, [key]] of wanted.entries()) this.#places.set(key, places[index]);
    return keys.map((key) => this.#places.get(key));
  }
}

/** Where the manifests of a part begin: characters, line breaks and documents before them; and the characters of the part itself. */
interface Start {
  at: number;
  line: number;
  document: number;
  own: { start: number; end: number; lastLine: number };
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
    this.parts = partsOf(text, before);
    let [at, line, document] = [0, 0, 0];
    for (const { length, before, lines, manifests } of this.parts) {
      this.#starts.push({ at: at - before.length, line: line - lineBreaks(before), document, own: { start: at, end: at + length, lastLine: line + lines + 1 } });
      at += length;
      line += lines;
      document += manifests.documents.length;
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
      const places = part.locateAll(indices.flatMap((index) => fields[index] ?? []));
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
    return this.parts.flatMap((part, number) => {
      const start = this.#starts[number];
      return start === undefined ? [] : of(part, start);
    });
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

/** The parts of a text, those of an earlier one where nothing is different. */
function partsOf(text: string, before?: Reading): Part[] {
  let at = 0;
  return cut(text, before && untouched(text, before)).map((piece) => {
    const part = piece instanceof Part ? piece : new Part(text.slice(at, at + piece.length), piece);
    at += part.length;
    return part;
  });
}

/** The parts of an earlier text before and behind what differs, by where they begin now. */
function untouched(text: string, { text: old, parts }: Reading): Map<number, Part> {
  const { start, beforeEnd } = difference(old, text);
  const kept = new Map<number, Part>();
  let at = 0;
  for (const part of parts) {
    if (at + part.length <= start) kept.set(at, part);
    else if (at >= beforeEnd) kept.set(at + text.length - old.length, part);
    at += part.length;
  }
  return kept;
}

function placed(place: Place, start: Start): Place {
  const { own } = start;
  const utf16Range = moved(place.utf16Range, start);
  // What is not closed is missed behind the part.
  const within = (at: number) => Math.max(own.start, Math.min(at, own.end));
  return {
    ...place, line: Math.min(place.line + start.line, own.lastLine), utf16Range: { start: within(utf16Range.start), end: within(utf16Range.end) },
    ...(place.document === undefined ? {} : { document: place.document + start.document }),
  };
}

function moved({ start, end }: Place["utf16Range"], { at }: Start): Place["utf16Range"] {
  return { start: start + at, end: end + at };
}
