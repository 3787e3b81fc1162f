// A text in pieces that are read one without another: documents that stand together, or items of one list.

/** A piece, and what stands around it while it is read: the list's own fields, for some of its items. */
export interface Piece {
  readonly length: number;
  readonly before: string;
  readonly after: string;
}

/** Characters that a piece has at least, the last one of a list or a text apart. */
const SIZE = 8_000;

/** Cut before a line that is nothing but this. */
const SEPARATOR = "\n---\n";

/** A list as `kubectl get` prints it, from its document's start to its end. It can be cut `lead` characters into each `marker`. */
interface List {
  start: number;
  end: number;
  marker: string;
  lead: number;
  /** What stands around items that are read without the others. */
  before: string;
  after: string;
}

/**
 * The pieces of a text, in their order. `kept` are pieces of an earlier text, untouched, by where they begin now, in that order: those
 * that are still pieces of this text come back.
 */
export function cut<Kept extends Piece>(text: string, kept: ReadonlyMap<number, Kept> = new Map()): (Kept | Piece)[] {
  let list = listAt(text, 0);
  // JSON values may stand one behind the other, and what a template is shows only in the whole.
  if ((list === undefined && /^\s*\{/.test(text)) || text.includes("{{")) return [{ length: text.length, before: "", after: "" }];
  const pieces: (Kept | Piece)[] = [];
  const starts = [...kept.keys()];
  for (let [at, next] = [0, 0]; at < text.length; ) {
    while ((starts[next] ?? Infinity) <= at) next += 1;
    const known = kept.get(at);
    const isPiece = known !== undefined && isEnd(text, at + known.length, list);
    const wish = around(at, isPiece ? at + known.length : endOf(text, at, list, starts[next]), list);
    const piece = isPiece && known.before === wish.before && known.after === wish.after ? known : wish;
    pieces.push(piece);
    at += piece.length;
    if (list === undefined || at >= list.end) list = listAt(text, at);
  }
  return pieces;
}

function around(at: number, end: number, list: List | undefined): Piece {
  if (list === undefined) return { length: end - at, before: "", after: "" };
  return { length: end - at, before: at === list.start ? "" : list.before, after: end === list.end ? "" : list.after };
}

function isEnd(text: string, at: number, list: List | undefined): boolean {
  if (list === undefined) return at === text.length || text.startsWith(SEPARATOR, at - 1);
  return at === list.end || (at < list.end && text.startsWith(list.marker, at - list.lead));
}

/** Where a piece ends that begins at a place: at the latest where an untouched one begins. */
function endOf(text: string, at: number, list: List | undefined, next = Infinity): number {
  let end = text.length;
  if (list !== undefined) {
    const found = text.indexOf(list.marker, at + SIZE);
    end = found === -1 ? list.end : Math.min(found + list.lead, list.end);
  } else {
    for (let found = text.indexOf(SEPARATOR, at); found !== -1; found = text.indexOf(SEPARATOR, found + 1)) {
      if (found < at + SIZE && listAt(text, found + 1) === undefined) continue;
      end = found + 1;
      break;
    }
  }
  return next < end && isEnd(text, next, list) ? next : end;
}

// Nothing but what `kubectl` writes: then the fields of a list say the same around some of its items as around all of them.
const VALUE = String.raw`(?:"[\w./-]*"|[\w./-]*)`;
const YAML_FIELDS = String.raw`(?:(?:(?:apiVersion|kind|metadata|  \w+):(?: ${VALUE}| \{\})?|#.*)(?:\n+|$))*`;
const JSON_FIELD = String.raw`"(?:(?:apiVersion|kind)": ${VALUE}|metadata": \{(?:\s*"\w+": ${VALUE},?)*\s*\})`;
const YAML_HEAD = new RegExp(String.raw`(?:---\n)?\n*${YAML_FIELDS}items:\n( *)- `, "y");
const YAML_TAIL = new RegExp(String.raw`(?<=\n)(?=[a-z]|$)${YAML_FIELDS}$`);
const JSON_HEAD = new RegExp(String.raw`(?:---\n)?\s*\{\s*(?:${JSON_FIELD},\s*)*"items": \[\n( *)\{\n`, "y");
const JSON_TAIL = new RegExp(String.raw`(?<=\n) *\](?:,\s*${JSON_FIELD})*\s*\}\s*$`);

/** Characters at the end of a list in which its last fields are looked for. */
const MOST_TAIL = 1_000;

/** The list whose document begins at a place, where there is one worth cutting. */
function listAt(text: string, start: number): List | undefined {
  const isJson = /(?:---\n)?\s*\{/y;
  isJson.lastIndex = start;
  const [HEAD, TAIL] = isJson.test(text) ? [JSON_HEAD, JSON_TAIL] : [YAML_HEAD, YAML_TAIL];
  HEAD.lastIndex = start;
  const [head, indent = ""] = HEAD.exec(text) ?? [];
  if (head === undefined) return undefined;
  const found = text.indexOf(SEPARATOR, start);
  const end = found === -1 ? text.length : found + 1;
  const last = text.slice(Math.max(start + head.length, end - MOST_TAIL), end);
  const after = TAIL.exec(last)?.[0];
  const before = head.slice(0, head.lastIndexOf("\n", head.length - 2) + 1);
  // An alias may name what stands in another item.
  const hasAnchors = HEAD === YAML_HEAD && (text.includes(": &") || text.includes("- &"));
  if (hasAnchors || end - start < 2 * SIZE || after === undefined || !/kind"?: "?\w*List\b/.test(before + after)) return undefined;
  if (HEAD === YAML_HEAD) return { start, end, marker: `\n${indent}- `, lead: 1, before, after };
  // The comma behind the last item of a piece wants another one: nothing is none.
  const lead = `\n${indent}},\n`;
  return { start, end, marker: `${lead}${indent}{\n`, lead: lead.length, before, after: `null\n${after}` };
}
