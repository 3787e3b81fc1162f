import { Fragment, type VNode, h, options } from "preact";
import { expect, test } from "vitest";

import { showHidden, visible } from "../src/visible";

test("characters that cannot be seen or turn the text around are written out", () => {
  expect(visible("gpu\u202egnp.exe")).toBe("gpu\\u{202E}gnp.exe");
  for (const hidden of ["\u0000", "\u001b", "\u009b", "\u00ad", "\u061c", "\u200b", "\u200f", "\u2028", "\u2066", "\ufeff", "\u{e0041}"]) {
    expect(visible(hidden)).toMatch(/^\\u\{[0-9A-F]+\}$/);
  }
  for (const plain of ["größe", "名前", "שם", "a\tb\nc", "😀", "▲ ◇ ◷ ⧉"]) expect(visible(plain)).toBe(plain);
});

test("every text and title of the page shows them, and what is edited stays as it is", () => {
  showHidden();
  const name = "a\u202eb";
  const shown = "a\\u{202E}b";
  expect(h("p", { title: name }).props).toMatchObject({ title: shown });
  expect(h("input", { value: name, "aria-label": name }).props).toMatchObject({ value: name, "aria-label": shown });
  // A text is drawn by an entry without a type, wherever it stands: in an element, a list, or a fragment.
  const text = { type: null, props: name } as unknown as VNode;
  options.vnode?.(text);
  expect(text.props).toBe(shown);
  // A part of the page gets what it is given: it may look something up by it.
  expect(h(Fragment, null, name).props.children).toBe(name);
});
