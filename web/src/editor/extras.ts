// What makes the editor comfortable and can come a moment later: colours, indentation by language, findings in the text, search, completion.

import { type Completion, type CompletionContext, type CompletionResult, autocompletion } from "@codemirror/autocomplete";
import { yaml, yamlLanguage } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, type Tooltip, ViewPlugin, type ViewUpdate, highlightSpecialChars, hoverTooltip, keymap } from "@codemirror/view";
import { classHighlighter, highlightTree } from "@lezer/highlight";
import type { PlacedFinding } from "apportion";

import { HIDDEN, visible } from "../visible";
import { APPLY_FIX } from "../words";
import type { LocalFinding } from "./editor";
import { type FieldInfo, TRUE_OR_FALSE, apiVersions, fieldOf, fieldsAt, kinds, spotAt } from "./fields";
import { type Knowledge, NOTHING_KNOWN, completions, seenValues } from "./knowledge";
import { FIELDS, HAS_FIELDS, HERE, NO_VALUES } from "./words";

/** In the place of the margin that is there before. */
export const margin: Extension = lintGutter();

let learnt: () => Knowledge = () => NOTHING_KNOWN;
let kept: Knowledge | undefined;

/** Names of the newest text, to complete what is begun; found out when they are needed. */
export function learn(knowledge: () => Knowledge): void {
  learnt = knowledge;
  kept = undefined;
}

function known(): Knowledge {
  return (kept ??= learnt());
}

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  const found = completions(before, known());
  if (found !== undefined) {
    if (!explicit && found.from === before.length && !/["'.]$/.test(before)) return null;
    return offer(found.options.map((label) => ({ label })), before.slice(found.from), pos, explicit);
  }
  const spot = spotIn(state, pos);
  if (spot === undefined || (!explicit && spot.begun === "")) return null;
  const options = spot.isKey ? fieldsAt(spot).map(ofField) : valuesOf(spot.key, fieldOf(spot.kind, [...spot.path, spot.key])).map((label) => ({ label }));
  return offer(options, spot.begun, pos, explicit);
}

/** What continues the word before a position. A word that is there in full is not offered unasked: Enter begins a new line then. */
function offer(options: readonly Completion[], begun: string, pos: number, explicit: boolean): CompletionResult | null {
  const isWhole = (text: string) => !explicit && options.some(({ label }) => label === text);
  if (options.length === 0 || isWhole(begun)) return null;
  return { from: pos - begun.length, options, validFor: (text) => WORD.test(text) && !isWhole(text) };
}

const WORD = /^[\w./-]*$/;

function ofField(field: FieldInfo): Completion {
  const isBlock = field.fields.length > 0;
  return { label: field.name, detail: `${field.holds}${field.era === "" ? "" : `, ${field.era}`}`, apply: isBlock ? `${field.name}:` : `${field.name}: ` };
}

function valuesOf(key: string, field: FieldInfo | undefined): readonly string[] {
  if (key === "kind") return kinds;
  if (key === "apiVersion") return apiVersions;
  return field?.holds === TRUE_OR_FALSE ? ["true", "false"] : [];
}

/** Where a position is in its document. */
function spotIn(state: EditorState, pos: number) {
  const { doc } = state;
  const own = doc.lineAt(pos);
  const isEdge = (number: number) => doc.line(number).text.startsWith("---");
  let [first, last] = [own.number, own.number];
  while (first > 1 && !isEdge(first) && own.number - first < MOST_LINES) first -= 1;
  while (last < doc.lines && !isEdge(last + 1) && last - own.number < MOST_LINES) last += 1;
  const lines = Array.from({ length: last - first + 1 }, (_, index) => doc.line(first + index).text);
  return spotAt(lines, own.number - first, pos - own.from);
}

/** Lines before and behind the cursor that are looked at: an object has fewer. */
const MOST_LINES = 5_000;

/** What a field is, where the pointer rests on it. */
const hover = hoverTooltip((view, pos) => {
  const line = view.state.doc.lineAt(pos);
  const column = pos - line.from;
  const word = [...line.text.matchAll(/[\w./-]+/g)].find(({ 0: text, index }) => index <= column && column <= index + text.length);
  if (word === undefined) return null;
  const [name] = word;
  const [from, end] = [line.from + word.index, line.from + word.index + name.length];
  const seen = seenValues(line.text.slice(0, word.index + name.length), known());
  if (seen !== undefined) return tooltip(line.from + seen.from, end, [seen.name, seen.values.length === 0 ? NO_VALUES : visible(seen.values.join(", "))]);
  const spot = spotIn(view.state, from);
  if (spot === undefined || !spot.isKey || !/^["']?:(\s|$)/.test(line.text.slice(word.index + name.length))) return null;
  const field = fieldOf(spot.kind, [...spot.path, name]);
  if (field === undefined) return null;
  const says = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  const closed = completions(`${name}: `, known())?.options ?? [];
  return tooltip(from, end, [
    `${field.name}: ${field.holds}${field.era === "" ? "" : `, ${field.era}`}`,
    ...(says === undefined ? [] : [says]),
    ...(field.fields.length > 0 ? [`${HAS_FIELDS} ${field.fields.join(", ")}`] : []),
    ...(closed.length > 0 ? [`${HERE} ${visible(closed.slice(0, 12).join(", "))}`] : []),
  ]);
});

function tooltip(pos: number, end: number, [title = "", ...lines]: readonly string[]): Tooltip {
  return {
    pos, end, above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-field";
      for (const [index, text] of [title, ...lines].entries()) {
        const part = document.createElement(index === 0 ? "strong" : "p");
        part.textContent = text;
        dom.append(part);
      }
      return { dom };
    },
  };
}

/** A text of more characters than this is parsed where it is seen: all of it would take seconds, and its tree much memory. */
export const LONG = 500_000;

/** Lines above what is seen in which the start of an object is looked for. */
const MOST_ABOVE = 500;

class Seen {
  decorations: DecorationSet;

  constructor(view: EditorView) {
    this.decorations = coloured(view);
  }

  update({ docChanged, viewportChanged, view }: ViewUpdate): void {
    if (docChanged || viewportChanged) this.decorations = coloured(view);
  }
}

/** Colours of what is seen. A line that is not indented needs nothing of what stands above it. */
function coloured({ state: { doc }, viewport: { from, to } }: EditorView): DecorationSet {
  let first = doc.lineAt(from);
  for (const { number } = first; first.number > 1 && first.number > number - MOST_ABOVE && /^\s/.test(first.text); ) first = doc.line(first.number - 1);
  const marks = new RangeSetBuilder<Decoration>();
  const tree = yamlLanguage.parser.parse(doc.sliceString(first.from, to));
  highlightTree(tree, classHighlighter, (start, end, classes) => marks.add(first.from + start, first.from + end, Decoration.mark({ class: classes })));
  return marks.finish();
}

const whole: Extension = [yaml(), syntaxHighlighting(classHighlighter)];
const seen = ViewPlugin.fromClass(Seen, { decorations: ({ decorations }) => decorations });
const isLong = ({ doc }: EditorState) => doc.length > LONG;
const language = new Compartment();

/** The language of a text, and of what becomes of it. */
function languageOf(state: EditorState): Extension {
  return [
    language.of(isLong(state) ? seen : whole),
    EditorState.transactionExtender.of(({ startState, newDoc }) => {
      const becomesLong = newDoc.length > LONG;
      return becomesLong === isLong(startState) ? null : { effects: language.reconfigure(becomesLong ? seen : whole) };
    }),
  ];
}

export const extras = (state: EditorState): Extension => [
  search({ top: true }),
  highlightSelectionMatches(),
  autocompletion({ override: [complete], icons: false }),
  hover,
  keymap.of(searchKeymap),
  indentOnInput(),
  bracketMatching(),
  languageOf(state),
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
