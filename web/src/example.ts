// The files that the page starts with.

import type { SourceFile } from "./files";

const files = import.meta.glob<string>("../../examples/gpu-sharing/*.yaml", { query: "?raw", import: "default", eager: true });

export const firstFiles: SourceFile[] = sourceFiles(files);

/** Files by the last part of their path, in the order of their names. */
export function sourceFiles(files: Record<string, string>): SourceFile[] {
  const names = Object.keys(files).sort();
  return names.map((path) => ({ name: path.slice(path.lastIndexOf("/") + 1), text: files[path] ?? "" }));
}
