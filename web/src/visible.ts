// What cannot be seen, or changes the direction of the text around it, is written out: a name must not look like another one.

import { options } from "preact";

/** Control characters, and what Unicode calls ignorable; the command line has the same list. */
export const HIDDEN = /(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff0-\ufffb]/gu;

/** `\u{202E}` in the place of the character. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`);
}

/** Attributes that people read or hear. */
const SPOKEN = ["title", "aria-label", "alt", "placeholder"];

/** From now on every text of the page passes here, whoever wrote it. What is edited stays as it is. */
export function showHidden(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    writeOut(vnode as Shown);
    before?.(vnode);
  };
}

/** What Preact is about to draw: a text, which has no type, an element, or a part of the page. */
type Shown = { type: null; props: unknown } | { type: string | ((props: never) => unknown); props: { [name: string]: unknown } };

function writeOut(shown: Shown): void {
  if (shown.type === null) {
    if (typeof shown.props === "string") shown.props = visible(shown.props);
  } else if (typeof shown.type === "string") {
    for (const name of SPOKEN) {
      const value = shown.props[name];
      if (typeof value === "string") shown.props[name] = visible(value);
    }
  }
}
