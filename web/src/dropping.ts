// Files and folders that are dropped on the page.

import type { Taken } from "./reading";
import { PASTED } from "./words";

/** More are not read anyway. */
const MANY_FILES = 300;

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
  ).then(async (found) => (await import("./reading")).read(found.flat()));
}

/** What a paste brings: files, or a text that is a manifest. Must be called while its event is handled. */
export async function pasted(transfer: DataTransfer): Promise<Taken> {
  if (transfer.files.length > 0) return taken(transfer);
  const text = transfer.getData("text/plain");
  const { isManifest, read } = await import("./reading");
  return isManifest(text) ? read([new File([text], PASTED)]) : { files: [], refused: [] };
}

async function filesBelow(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // A reader gives its entries in parts; an empty part is the last one.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0 || found.length > MANY_FILES) return found;
    for (const below of part) found.push(...(await filesBelow(below)));
  }
}
