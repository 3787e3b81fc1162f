// Files that are dropped on the page or chosen, read into texts. They stay in the page.

import { type SourceFile, normalised } from "./files";
import { compareNumbered } from "./model/order";

/** More than this is no manifest that somebody looks at here. */
const MAX_BYTES = 20_000_000;
const MAX_FILES = 300;

export interface Taken {
  files: SourceFile[];
  /** Names of files that were not taken: they hold no manifest, or are too large. */
  refused: string[];
}

/** Reads manifests, in the order of their names. What a file is called does not matter, what is in it does. */
export async function read(files: Iterable<File>): Promise<Taken> {
  const result: Taken = { files: [], refused: [] };
  let bytes = 0;
  const sorted = [...files].sort((one, other) => compareNumbered(pathOf(one), pathOf(other)));
  for (const file of sorted) {
    const isRoom = bytes + file.size <= MAX_BYTES && result.files.length < MAX_FILES;
    const text = isRoom ? textOf(new Uint8Array(await file.arrayBuffer())) : undefined;
    if (text === undefined || !(isNamedManifest(file.name) || isManifest(text))) {
      result.refused.push(file.name);
      continue;
    }
    bytes += file.size;
    result.files.push({ name: file.name, text: normalised(text) });
  }
  return result;
}

function isNamedManifest(name: string): boolean {
  return /\.(ya?ml|json)$/i.test(name);
}

/** Whether a line names a kind or a version as every manifest does, in YAML or in JSON. */
export function isManifest(text: string): boolean {
  return /(^|[\s{,])["']?(apiVersion|kind)["']?\s*:/.test(text);
}

/** The text of a file in one of the encodings that YAML knows and PowerShell writes; undefined for what is no text. */
function textOf(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function pathOf(file: File): string {
  return file.webkitRelativePath || file.name;
}
