// What makes the editor comfortable and can come a moment later: colours, indentation by language, findings in the text, search, completion.

import { type CompletionContext, autocompletion } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import type { Extension } from "@codemirror/state";
import { type EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { PlacedFinding } from "apportion";

import { HIDDEN, visible } from "../visible";
import { APPLY_FIX } from "../words";
import type { LocalFinding } from "./editor";
import { type Knowledge, NOTHING_KNOWN, completions } from "./knowledge";

/** In the place of the margin that is there before. */
export const margin: Extension = lintGutter();

let known: Knowledge = NOTHING_KNOWN;

/** Names of the newest text, to complete what is begun. */
export function learn(knowledge: Knowledge): void {
  known = knowledge;
}

function complete({ state, pos, explicit }: CompletionContext) {
  const line = state.doc.lineAt(pos);
  const begun = line.text.slice(0, pos - line.from);
  const found = completions(begun, known);
  if (found === undefined || (!explicit && found.from === begun.length && !/["'.]$/.test(begun))) return null;
  return { from: line.from + found.from, options: found.options.map((label) => ({ label })), validFor: /^[\w.-]*$/ };
}

export const extras: Extension = [
  search({ top: true }),
  highlightSelectionMatches(),
  autocompletion({ override: [complete], icons: false }),
  keymap.of(searchKeymap),
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
