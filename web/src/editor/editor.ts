// The editor: CodeMirror with line numbers, folding, history of each file, underlined findings and their corrections.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldAll, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting, unfoldAll } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { PlacedFinding, Utf16Range } from "apportion";

import { type SourceFile, difference } from "../files";
import { APPLY_FIX, EDITOR_LABEL } from "../words";

/** A finding with its range in the file that is shown. */
export interface LocalFinding extends PlacedFinding {
  range: Utf16Range;
}

export interface Editor {
  /** Shows one of the files. A text that differs from what is known of the file becomes an edit that can be undone. */
  open(files: readonly SourceFile[], active: number): void;
  /** Other files are there now, whatever their names: nothing is known of them. */
  forget(): void;
  /** Shows findings in the text; those whose range the text no longer has are left out. */
  showFindings(findings: readonly LocalFinding[]): void;
  /** Selects a range and moves there. */
  reveal(range: Utf16Range, takesFocus: boolean): void;
  focus(): void;
  fold(isFolded: boolean): void;
}

export interface EditorEvents {
  onEdit(name: string, text: string): void;
  /** The cursor was moved by hand. */
  onCursor(name: string, offset: number): void;
  onFix(finding: PlacedFinding): void;
  /** Escape: the focus goes elsewhere. */
  onLeave(): void;
}

/** Marks what the page does, so that it is not taken for what the user does. */
const byPage = Annotation.define<boolean>();

export function createEditor(parent: HTMLElement, events: EditorEvents): Editor {
  let name: string | undefined;
  const create = (text: string) => EditorState.create({ doc: text, extensions: extensions(events, () => name ?? "") });
  const view = new EditorView({ parent, state: create("") });
  // What is known of files by name: the state in which they were left, or the text that they came with.
  const kept = new Map<string, EditorState>();
  const texts = new Map<string, string>();
  return {
    open(files, active) {
      const file = files[active];
      if (file === undefined) return;
      for (const { name, text } of files) if (!texts.has(name)) texts.set(name, text);
      if (file.name !== name) {
        if (name !== undefined) kept.set(name, view.state);
        name = file.name;
        view.setState(kept.get(name) ?? create(texts.get(name) ?? file.text));
      }
      const text = view.state.doc.toString();
      if (text === file.text) return;
      const { start, beforeEnd, afterEnd } = difference(text, file.text);
      const changes = { from: start, to: beforeEnd, insert: file.text.slice(start, afterEnd) };
      view.dispatch({ changes, annotations: byPage.of(true), effects: EditorView.scrollIntoView(start, { y: "center" }) });
    },
    forget() {
      kept.clear();
      texts.clear();
      name = undefined;
    },
    showFindings(findings) {
      const length = view.state.doc.length;
      view.dispatch(setDiagnostics(view.state, findings.flatMap((finding) => diagnostic(finding, length, events))));
    },
    reveal({ start, end }, takesFocus) {
      const length = view.state.doc.length;
      const [from, to] = [Math.min(start, length), Math.min(end, length)];
      const effects = EditorView.scrollIntoView(from, { y: takesFocus ? "center" : "nearest", yMargin: 60 });
      view.dispatch({ selection: { anchor: to, head: from }, effects, annotations: byPage.of(true) });
      if (takesFocus) view.focus();
    },
    focus: () => view.focus(),
    fold: (isFolded) => void (isFolded ? foldAll(view) : unfoldAll(view)),
  };
}

function extensions(events: EditorEvents, name: () => string) {
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
    EditorView.contentAttributes.of({ "aria-label": EDITOR_LABEL, spellcheck: "false", tabindex: "0" }),
    EditorView.updateListener.of((update) => {
      const isOwn = update.transactions.some((transaction) => transaction.annotation(byPage) === true);
      if (update.docChanged) events.onEdit(name(), update.state.doc.toString());
      else if (update.selectionSet && !isOwn && update.view.hasFocus) events.onCursor(name(), update.state.selection.main.head);
    }),
  ];
}

/** The question is made of the editor's own text, so that both count the same: CodeMirror makes every line break one `\n`. */
function diagnostic(finding: LocalFinding, length: number, events: EditorEvents): Diagnostic[] {
  const { range, severity, message, hint, code, fix } = finding;
  const { start, end } = range;
  if (end > length) return [];
  const text = hint === undefined ? message : `${message}\n${hint}`;
  const actions = fix === undefined ? [] : [{ name: APPLY_FIX, apply: () => events.onFix(finding) }];
  return [{ from: start, to: end, severity, source: code, message: text, actions }];
}
