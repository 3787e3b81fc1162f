// Several files, asked about as one text. A place in that text is a place in one of the files.

import type { Place, Utf16Range } from "apportion";

export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** A place in one of the files. */
export interface LocalPlace {
  file: number;
  /** From one. */
  line: number;
  utf16Range: Utf16Range;
}

const BETWEEN = "---\n";

/** All files as one text of YAML documents, in their order. */
export function joined(files: readonly SourceFile[]): string {
  return files.map(({ text }) => ended(text)).join(BETWEEN);
}

/** Where a range of the joined text is; a range that ends in another file ends with its own. */
export function localRange(files: readonly SourceFile[], { start, end }: Utf16Range): { file: number; range: Utf16Range } {
  let from = 0;
  for (const [file, { text }] of files.entries()) {
    const next = from + ended(text).length + BETWEEN.length;
    if (start < next || file === files.length - 1) {
      const clamp = (offset: number) => Math.max(0, Math.min(offset - from, text.length));
      return { file, range: { start: clamp(start), end: clamp(end) } };
    }
    from = next;
  }
  return { file: 0, range: { start: 0, end: 0 } };
}

/** Where a place of the joined text is. */
export function localPlace(files: readonly SourceFile[], place: Pick<Place, "line" | "utf16Range">): LocalPlace {
  const { file, range } = localRange(files, place.utf16Range);
  let line = place.line;
  for (const before of files.slice(0, file)) line -= linesOf(before) + 1;
  return { file, line, utf16Range: range };
}

/** Where an offset of a file is in the joined text. */
export function globalOffset(files: readonly SourceFile[], file: number, offset: number): number {
  return files.slice(0, file).reduce((sum, { text }) => sum + ended(text).length + BETWEEN.length, offset);
}

/**
 * The files after the joined text was changed. A file begins as far before its first document as it did; where documents are not known
 * or do not say it, all that changed must lie in one file. Undefined when it cannot be said which file changed.
 */
export function split(
  files: readonly SourceFile[],
  changed: string,
  documents?: { before: readonly Utf16Range[]; after: readonly Utf16Range[] },
): SourceFile[] | undefined {
  const before = joined(files);
  const { start, beforeEnd } = difference(before, changed);
  const growth = changed.length - before.length;
  const result: SourceFile[] = [];
  let [from, changedFrom] = [0, 0];
  for (const [index, { name, text }] of files.entries()) {
    const next = from + ended(text).length + BETWEEN.length;
    let changedNext = next <= start ? next : next - BETWEEN.length >= beforeEnd ? next + growth : undefined;
    if (index === files.length - 1) changedNext = changed.length + BETWEEN.length;
    if (changedNext === undefined) {
      const first = documents?.before.findIndex((range) => range.start >= next) ?? -1;
      const [was, is] = [documents?.before[first], documents?.after[first]];
      if (was === undefined || is === undefined) return undefined;
      changedNext = is.start - (was.start - next);
    }
    const own = changed.slice(changedFrom, changedNext - BETWEEN.length);
    result.push({ name, text: own === ended(text) ? text : own });
    [from, changedFrom] = [next, changedNext];
  }
  return joined(result) === changed ? result : undefined;
}

/** Characters that are compared at once. */
const BLOCK = 4_096;

/** The smallest range that differs: `[start, beforeEnd)` became `[start, afterEnd)`. */
export function difference(before: string, after: string): { start: number; beforeEnd: number; afterEnd: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start + BLOCK <= shorter && before.slice(start, start + BLOCK) === after.slice(start, start + BLOCK)) start += BLOCK;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  const blockAt = (text: string) => text.slice(text.length - end - BLOCK, text.length - end);
  while (end + BLOCK <= shorter - start && blockAt(before) === blockAt(after)) end += BLOCK;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { start, beforeEnd: before.length - end, afterEnd: after.length - end };
}

/** A text as the editor counts it: every line break is one character. */
export function normalised(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** The line of an offset, from one. */
export function lineAt(text: string, offset: number): number {
  return lineBreaks(text.slice(0, offset)) + 1;
}

const counted = new WeakMap<SourceFile, number>();

/** Line breaks of a whole file, counted once. */
function linesOf(file: SourceFile): number {
  const known = counted.get(file) ?? lineBreaks(ended(file.text));
  counted.set(file, known);
  return known;
}

export function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
