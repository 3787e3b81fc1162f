// The text that the page starts with: the files of one example, as one text.

const files = import.meta.glob<string>("../../examples/gpu-sharing/*.yaml", { query: "?raw", import: "default", eager: true });

export const exampleText = join(files);

/** Files in the order of their names, with `---` between them. */
export function join(files: Record<string, string>): string {
  const names = Object.keys(files).sort();
  return names.map((name) => (files[name] ?? "").trimEnd()).join("\n---\n").concat("\n");
}
