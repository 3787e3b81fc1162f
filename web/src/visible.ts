// What cannot be seen, or changes the direction of the text around it, is written out: a name must not look like another one.

import { type VNode, options } from "preact";

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
    if (typeof vnode.type === "string") writeOut(vnode);
    before?.(vnode);
  };
}

function writeOut({ props }: VNode<{ [name: string]: unknown }>): void {
  for (const name of ["children", ...SPOKEN]) {
    const value = props[name];
    if (typeof value === "string") props[name] = visible(value);
    else if (Array.isArray(value)) props[name] = value.map((part: unknown) => (typeof part === "string" ? visible(part) : part));
  }
}
