// The editor: CodeMirror with line numbers, folding and the history of each file; what only makes it more comfortable comes later.

import { defaultKeymap, history, historyKeymap, redo } from "@codemirror/commands";
import { foldGutter, foldKeymap } from "@codemirror/language";
import { Annotation, Compartment, EditorState, type Text } from "@codemirror/state";
import { EditorView, type ViewUpdate, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import type { PlacedFinding, Utf16Range } from "apportion";

import { type SourceFile, difference } from "../files";
import { EDITOR_LABEL } from "../words";
import { type Knowledge, NOTHING_KNOWN } from "./knowledge";

/** A finding with its range in the file that is shown. */
export interface LocalFinding extends PlacedFinding {
  range: Utf16Range;
}

export interface Editor {
  /** Shows one of the files. A text that differs from what is known of the file becomes an edit that can be undone. */
  open(files: readonly SourceFile[], active: number): void;
  /** A file has another name; what was done in it can still be undone. */
  rename(from: string, to: string): void;
  /** Other files are there now, whatever their names: nothing is known of them. */
  forget(): void;
  /** Shows findings in the text; those whose range the text no longer has are left out. */
  showFindings(findings: readonly LocalFinding[]): void;
  /** Names that can be completed. */
  learn(knowledge: () => Knowledge): void;
  /** Selects a range and moves there. */
  reveal(range: Utf16Range, takesFocus: boolean): void;
  /** Loads what makes the editor comfortable, once there is time for it. */
  complete(): void;
}

export interface EditorEvents {
  onEdit(name: string, text: string): void;
  /** A paste took the place of the whole text. */
  onReplace(name: string, text: string): void;
  /** The cursor was moved by hand. */
  onCursor(name: string, offset: number): void;
  onFix(finding: PlacedFinding): void;
  /** Where the name at a column of a line leads to is wanted; false where it leads nowhere. */
  onDefinition(line: string, column: number): boolean;
  /** There is nothing more to undo in the text; false where there is nothing beside it either. */
  onUndo(): boolean;
  /** There is nothing more to do again in the text; false where there is nothing beside it either. */
  onRedo(): boolean;
  /** Escape: the focus goes elsewhere. */
  onLeave(): void;
}

/** Names the styles that CodeMirror makes while running, for the page's policy; see vite.config.ts. */
declare const STYLE_NONCE: string;

/** Marks what the page does, so that it is not taken for what the user does. */
const byPage = Annotation.define<boolean>();

export function createEditor(parent: HTMLElement, events: EditorEvents): Editor {
  let name: string | undefined;
  let comfort: typeof import("./extras") | undefined;
  let underlined: readonly LocalFinding[] = [];
  let known = () => NOTHING_KNOWN;
  const create = (text: string) => {
    const state = EditorState.create({ doc: text, extensions: extensions(events, () => name ?? "") });
    return comfort === undefined ? state : state.update({ effects: added(comfort, state) }).state;
  };
  const view = new EditorView({ parent, state: create("") });
  // What is known of files by name: the state in which they were left, or the text that they came with.
  const kept = new Map<string, EditorState>();
  const came = new Map<string, string>();
  return {
    open(files, active) {
      const file = files[active];
      if (file === undefined) return;
      for (const { name, text } of files) if (!came.has(name)) came.set(name, text);
      if (file.name !== name) {
        if (name !== undefined) kept.set(name, view.state);
        name = file.name;
        const state = kept.get(name) ?? create(came.get(name) ?? file.text);
        view.setState(comfort === undefined ? state : state.update({ effects: added(comfort, state) }).state);
      }
      const text = textOf(view.state.doc);
      if (text === file.text) return;
      const { start, beforeEnd, afterEnd } = difference(text, file.text);
      const changes = { from: start, to: beforeEnd, insert: file.text.slice(start, afterEnd) };
      view.dispatch({ changes, annotations: byPage.of(true), effects: EditorView.scrollIntoView(start, { y: "center" }) });
    },
    rename(from, to) {
      for (const known of [kept, came] as Map<string, EditorState | string>[]) {
        const value = known.get(from);
        known.delete(from);
        if (value !== undefined) known.set(to, value);
      }
      if (name === from) name = to;
    },
    forget() {
      kept.clear();
      came.clear();
      name = undefined;
    },
    showFindings(findings) {
      underlined = findings;
      comfort?.underline(view, findings, events.onFix);
    },
    learn(knowledge) {
      known = knowledge;
      comfort?.learn(known);
    },
    reveal({ start, end }, takesFocus) {
      const length = view.state.doc.length;
      const [from, to] = [Math.min(start, length), Math.min(end, length)];
      const effects = EditorView.scrollIntoView(from, { y: takesFocus ? "center" : "nearest", yMargin: 60 });
      view.dispatch({ selection: { anchor: to, head: from }, effects, annotations: byPage.of(true) });
      if (takesFocus) view.focus();
    },
    complete() {
      if (comfort !== undefined) return;
      void import("./extras").then((extras) => {
        comfort = extras;
        view.dispatch({ effects: added(extras, view.state) });
        extras.learn(known);
        extras.underline(view, underlined, events.onFix);
      });
    },
  };
}

/** Whether a paste took the place of everything, as after Ctrl+A. */
function isPastedOver({ transactions, changes, startState: { doc } }: ViewUpdate): boolean {
  let isWhole = false;
  changes.iterChanges((from, to) => (isWhole ||= from === 0 && to === doc.length));
  return isWhole && transactions.some((transaction) => transaction.isUserEvent("input.paste"));
}

const texts = new WeakMap<Text, string>();

/** The text of a document, made once: that is much where it is long. */
function textOf(document: Text): string {
  const known = texts.get(document) ?? document.toString();
  texts.set(document, known);
  return known;
}

function definition(state: EditorState, at: number, events: EditorEvents): boolean {
  const line = state.doc.lineAt(at);
  return events.onDefinition(line.text, at - line.from);
}

// Filled when the extras are there; until then there is a margin where they will write.
const margin = new Compartment();
const rest = new Compartment();

function added(comfort: typeof import("./extras"), state: EditorState) {
  return [margin.reconfigure(comfort.margin), rest.reconfigure(comfort.extras(state))];
}

function extensions(events: EditorEvents, name: () => string) {
  const leave = () => {
    events.onLeave();
    return true;
  };
  return [
    lineNumbers(),
    foldGutter(),
    margin.of(gutter({ class: "cm-gutter-lint" })),
    rest.of([]),
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    // What a key does first decides; Escape leaves only where nothing else wants it. Tab moves the focus, as in every form.
    keymap.of(["Mod-y", "Mod-Shift-z"].map((key) => ({ key, run: (view: EditorView) => redo(view) || events.onRedo(), preventDefault: true }))),
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, { key: "Mod-z", run: events.onUndo }, { key: "Escape", run: leave }]),
    keymap.of([{ key: "F12", run: ({ state }) => definition(state, state.selection.main.head, events) }]),
    EditorView.domEventHandlers({
      click: (event, view) => {
        const at = event.ctrlKey || event.metaKey ? view.posAtCoords(event) : null;
        return at !== null && definition(view.state, at, events);
      },
    }),
    EditorView.cspNonce.of(STYLE_NONCE),
    EditorView.contentAttributes.of({ "aria-label": EDITOR_LABEL, spellcheck: "false", tabindex: "0" }),
    EditorView.updateListener.of((update) => {
      const isOwn = update.transactions.some((transaction) => transaction.annotation(byPage) === true);
      if (update.docChanged) (isPastedOver(update) ? events.onReplace : events.onEdit)(name(), textOf(update.state.doc));
      else if (update.selectionSet && !isOwn && update.view.hasFocus) events.onCursor(name(), update.state.selection.main.head);
    }),
  ];
}
