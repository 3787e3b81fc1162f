// Below a field, in which characters stay as they are: what cannot be seen there.

import { useMemo } from "preact/hooks";

import { lineAt } from "../files";
import { HIDDEN, visible } from "../visible";
import * as words from "./words";

/** As many are named. */
const MOST = 5;

/** Says where a text has hidden characters; nothing where it has none. */
export function Hidden({ text }: { text: string }) {
  const found = useMemo(() => {
    const places: string[] = [];
    for (const { 0: character, index } of text.matchAll(HIDDEN)) {
      if (places.length === MOST) return [...places, "…"];
      places.push(words.hiddenAt(visible(character), lineAt(text, index)));
    }
    return places;
  }, [text]);
  if (found.length === 0) return null;
  return (
    <p class="muted" role="status">
      {words.HIDDEN_CHARACTERS}: <span class="code">{found.join(", ")}</span>
    </p>
  );
}
