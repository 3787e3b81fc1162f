// What makes the editor comfortable and can come a moment later: colours, indentation by language, findings in the text.

import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { type EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { PlacedFinding } from "apportion";

import { HIDDEN, visible } from "../visible";
import { APPLY_FIX } from "../words";
import type { LocalFinding } from "./editor";

/** In the place of the margin that is there before. */
export const margin: Extension = lintGutter();

export const extras: Extension = [
  indentOnInput(),
  bracketMatching(),
  yaml(),
  syntaxHighlighting(classHighlighter),
  keymap.of(lintKeymap),
  highlightSpecialChars({ render: hidden, specialChars: new RegExp(HIDDEN) }),
];

/** A character of the text that would not be seen. */
function hidden(code: number): HTMLElement {
  const shown = document.createElement("span");
  shown.className = "cm-specialChar";
  shown.textContent = visible(String.fromCodePoint(code));
  return shown;
}

/** Underlines findings; those whose range the text no longer has are left out. */
export function underline(view: EditorView, findings: readonly LocalFinding[], onFix: (finding: PlacedFinding) => void): void {
  const { length } = view.state.doc;
  view.dispatch(setDiagnostics(view.state, findings.flatMap((finding) => diagnostic(finding, length, onFix))));
}

/** The question is made of the editor's own text, so that both count the same: CodeMirror makes every line break one `\n`. */
function diagnostic(finding: LocalFinding, length: number, onFix: (finding: PlacedFinding) => void): Diagnostic[] {
  const { range, severity, message, hint, code, fix } = finding;
  const { start, end } = range;
  if (end > length) return [];
  const text = hint === undefined ? message : `${message}\n${hint}`;
  const actions = fix === undefined ? [] : [{ name: APPLY_FIX, apply: () => onFix(finding) }];
  return [{ from: start, to: end, severity, source: code, message: visible(text), actions }];
}
