// The editor: CodeMirror with line numbers, folding, history and underlined findings.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { PlacedFinding, Utf16Range } from "apportion";

import { EDITOR_LABEL } from "./words";

export interface Editor {
  /** Shows findings in the text; those whose place the text no longer has are left out. */
  showFindings(findings: readonly PlacedFinding[]): void;
  /** Selects a range and moves there. */
  reveal(range: Utf16Range): void;
}

export interface EditorEvents {
  onEdit(text: string): void;
  /** Escape: the focus goes elsewhere. */
  onLeave(): void;
}

export function createEditor(parent: HTMLElement, text: string, events: EditorEvents): Editor {
  const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions: extensions(events) }) });
  return {
    showFindings(findings) {
      const length = view.state.doc.length;
      view.dispatch(setDiagnostics(view.state, findings.flatMap((finding) => diagnostic(finding, length))));
    },
    reveal({ start, end }) {
      const length = view.state.doc.length;
      const selection = { anchor: Math.min(start, length), head: Math.min(end, length) };
      view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }) });
      view.focus();
    },
  };
}

function extensions(events: EditorEvents) {
  const leave = () => {
    events.onLeave();
    return true;
  };
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    indentOnInput(),
    bracketMatching(),
    yaml(),
    syntaxHighlighting(classHighlighter),
    // What a key does first decides; Escape leaves only where nothing else wants it. Tab moves the focus, as in every form.
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, { key: "Escape", run: leave }]),
    // As in the page's policy, see vite.config.ts.
    EditorView.cspNonce.of("editor"),
    EditorView.contentAttributes.of({ "aria-label": EDITOR_LABEL, spellcheck: "false" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) events.onEdit(update.state.doc.toString());
    }),
  ];
}

/** The question is the editor's own text, so that both count the same: CodeMirror makes every line break one `\n`. */
function diagnostic({ place, severity, message, hint, code }: PlacedFinding, length: number): Diagnostic[] {
  if (place === undefined || place.utf16Range.end > length) return [];
  const { start, end } = place.utf16Range;
  return [{ from: start, to: end, severity, source: code, message: hint === undefined ? message : `${message}\n${hint}` }];
}
