// What finding codes mean, in the words of `apportion explain CODE`: taken from the tables that the command line prints.

const SOURCES = import.meta.glob<string>(["../../../core/src/finding.rs", "../../../yaml/src/problem.rs"], { query: "?raw", import: "default" });

/** `Name = "area/code", Severity, "paragraph";`, as both tables write it. */
const ENTRY = /= "([a-z0-9]+\/[a-z0-9-]+)",\s*(?:Error|Warning|Info),\s*"((?:[^"\\]|\\.)*)";/g;

let known: Promise<ReadonlyMap<string, string>> | undefined;

/** The paragraph of each code. */
export function meanings(): Promise<ReadonlyMap<string, string>> {
  known ??= Promise.all(Object.values(SOURCES).map((load) => load())).then((texts) => new Map(texts.flatMap(entries)));
  return known;
}

function entries(source: string): [string, string][] {
  return [...source.matchAll(ENTRY)].map(([, code = "", paragraph = ""]) => [code, paragraph.replace(/\\(.)/g, "$1")]);
}
