// Files and folders that are dropped on the page or chosen, read into texts. They stay in the page.

import { type SourceFile, normalised } from "./files";

/** More than this is no manifest that somebody looks at here. */
const MAX_BYTES = 20_000_000;
const MAX_FILES = 300;

export interface Taken {
  files: SourceFile[];
  /** Names of files that were not read: no manifests, or too large. */
  refused: string[];
}

/** What a drag brings. Must be called while its event is handled: afterwards the browser empties it. */
export function taken(transfer: DataTransfer): Promise<Taken> {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = items.map((item) => item.getAsFile());
  return Promise.all(
    items.map((_, index) => {
      const entry = entries[index];
      const file = plain[index];
      if (entry?.isDirectory === true) return filesBelow(entry);
      return file === null || file === undefined ? [] : [file];
    }),
  ).then((found) => read(found.flat()));
}

/** Reads manifests, in the order of their names. */
export async function read(files: Iterable<File>): Promise<Taken> {
  const result: Taken = { files: [], refused: [] };
  let bytes = 0;
  const sorted = [...files].sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1));
  for (const file of sorted) {
    bytes += file.size;
    if (!/\.(ya?ml|json)$/i.test(file.name) || bytes > MAX_BYTES || result.files.length >= MAX_FILES) {
      result.refused.push(file.name);
      continue;
    }
    result.files.push({ name: file.name, text: normalised(await file.text()) });
  }
  return result;
}

function pathOf(file: File): string {
  return file.webkitRelativePath || file.name;
}

async function filesBelow(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // A reader gives its entries in parts; an empty part is the last one.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0 || found.length > MAX_FILES) return found;
    for (const below of part) found.push(...(await filesBelow(below)));
  }
}
