// A text that a link names by its address. Nothing is sent along but the request itself.

import { type SourceFile, normalised } from "../files";

const MAX_BYTES = 20_000_000;
const PATIENCE_MS = 20_000;

/** The text as a file, or why it cannot be had. */
export async function fetched(address: string): Promise<SourceFile | string> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", signal });
    if (!response.ok) return `${response.status} ${response.statusText}`.trim();
    const text = await response.text();
    if (text.length > MAX_BYTES) return "it is too large";
    const name = new URL(address).pathname.split("/").pop() || "cluster.yaml";
    return { name, text: normalised(text) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
