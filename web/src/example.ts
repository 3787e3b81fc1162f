// The files that the page starts with.

import type { SourceFile } from "./files";

/** Texts by their path below the folder `examples`. */
export const firstTexts: Readonly<Record<string, string>> = belowExamples(
  import.meta.glob<string>("../../examples/gpu-sharing/*.yaml", { query: "?raw", import: "default", eager: true }),
);

export const firstFiles: SourceFile[] = sourceFiles(firstTexts);

/** Whether files are those that the page starts with, apart from the text of one. */
export function isTour(files: readonly SourceFile[], apart?: number): boolean {
  return files.length === firstFiles.length && files.every(({ name, text }, index) => name === firstFiles[index]?.name && (index === apart || text === firstFiles[index]?.text));
}

/** Files by the last part of their path, in the order of their names. */
export function sourceFiles(files: Readonly<Record<string, string>>): SourceFile[] {
  const names = Object.keys(files).sort();
  return names.map((path) => ({ name: path.slice(path.lastIndexOf("/") + 1), text: files[path] ?? "" }));
}

/** `gpu-sharing/30-job.yaml` in the place of whatever leads there. */
export function belowExamples<Value>(files: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(files).map(([path, value]) => [path.slice(path.indexOf("examples/") + 9), value]));
}
