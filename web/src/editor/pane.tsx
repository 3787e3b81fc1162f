// The left pane: files as tabs, the outline of their objects, the editor.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type SourceFile, localPlace, localRange } from "../files";
import { usePage } from "../page";
import { Chooser } from "../parts";
import type { DocumentEntry } from "../protocol";
import { findingsOf } from "../state";
import * as words from "../words";
import type { Editor } from "./editor";
import { knowledgeOf } from "./knowledge";

export function EditorPane({ onLeave }: { onLeave: () => void }) {
  const { state, now, act } = usePage();
  const frame = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const isPastedOver = useRef(false);
  const leave = useRef(onLeave);
  leave.current = onLeave;
  const file = state.files[state.active];
  const isAnswered = state.result !== undefined || state.failure !== undefined;

  useEffect(() => {
    // The answer is what people wait for: until it is there, a plain field is enough.
    if (!isAnswered || editor !== undefined) return;
    let isWanted = true;
    void import("./editor").then(({ createEditor }) => {
      const { current } = frame;
      if (!isWanted || current === null) return;
      const field = current.querySelector("textarea");
      const caret = field === null || document.activeElement !== field ? undefined : { start: field.selectionStart, end: field.selectionEnd };
      field?.remove();
      const numberOf = (name: string) => now().files.findIndex((file) => file.name === name);
      const made = createEditor(current, {
        onEdit: (name, text) => act.edit(numberOf(name), text),
        onReplace: (name, text) => act.replace(numberOf(name), text),
        onCursor: (name, offset) => act.cursor(numberOf(name), offset),
        onFix: act.fix,
        onDefinition: act.define,
        onUndo: act.undo,
        onRedo: act.redo,
        onLeave: () => leave.current(),
      });
      // What was written in the field can be undone, too.
      const { files, opened, active } = now();
      if (opened.files[active]?.name === files[active]?.name) made.open(opened.files, active);
      made.open(files, active);
      if (caret !== undefined) made.reveal(caret, true);
      made.complete();
      setEditor(made);
    });
    return () => {
      isWanted = false;
    };
  }, [isAnswered]);

  const before = useRef(state);
  useEffect(() => {
    if (before.current.draft !== state.draft) editor?.forget();
    else for (const [from, to] of renames(before.current.files, state.files)) editor?.rename(from, to);
    before.current = state;
  }, [editor, state.draft, state.files]);
  // Of the newest state: what was typed since the last drawing must not be taken back.
  useEffect(() => editor?.open(now().files, now().active), [editor, state.files, state.active]);
  const marked = useMemo(() => localFindings(state, state.active), [state.result, state.checked, state.active]);
  useEffect(() => editor?.showFindings(marked), [editor, marked]);
  useEffect(() => editor?.learn(() => knowledgeOf(state.inventory, state.result?.documents ?? [])), [editor, state.result]);
  const revealed = useRef(state.shown);
  useEffect(() => {
    const { shown } = state;
    // What is not on the screen is shown once it is.
    if (editor === undefined || shown === undefined || shown === revealed.current || frame.current?.offsetParent === null) return;
    revealed.current = shown;
    editor.reveal(shown.range, shown.takesFocus);
  }, [editor, state.shown, state.side]);

  return (
    <section class="pane text" aria-labelledby="manifests">
      <div class="head">
        <h2 id="manifests">{words.MANIFESTS}</h2>
        <p class="muted">{words.PRIVACY}</p>
        <Outline />
      </div>
      <FileTabs />
      <div class="editor" ref={frame}>
        {editor === undefined && (
          <textarea
            class="preview"
            aria-label={words.EDITOR_LABEL}
            spellcheck={false}
            value={file?.text}
            onPaste={({ currentTarget: { selectionStart, selectionEnd, value } }) => (isPastedOver.current = selectionEnd - selectionStart === value.length)}
            onInput={({ currentTarget: { value } }) => {
              (isPastedOver.current ? act.replace : act.edit)(state.active, value);
              isPastedOver.current = false;
            }}
          />
        )}
      </div>
    </section>
  );
}

function FileTabs() {
  const { state, act } = usePage();
  if (state.files.length < 2) return null;
  return (
    <nav class="files" aria-label={words.FILES}>
      {state.files.map(({ name }, index) => (
        <button type="button" aria-current={index === state.active ? "true" : undefined} onClick={() => act.activate(index)}>
          {name}
        </button>
      ))}
    </nav>
  );
}

const NO_DOCUMENTS: readonly DocumentEntry[] = [];

/** All objects of all files; choosing one goes there. */
function Outline() {
  const { state, act } = usePage();
  const documents = state.result?.documents ?? NO_DOCUMENTS;
  const options = useMemo(() => documents.map(({ object }, index) => (
    { value: String(index), label: `${object.kind === "" ? words.UNKNOWN_KIND : object.kind} ${words.objectName(object)}` }
  )), [documents]);
  if (documents.length === 0) return null;
  return (
    <label class="outline">
      {words.OUTLINE}{" "}
      <Chooser
        options={options}
        value=""
        none={words.plural(documents.length, "object")}
        onChoose={(value) => {
          const chosen = value === "" ? undefined : documents[Number(value)];
          if (chosen !== undefined) act.reveal(chosen);
        }}
      />
    </label>
  );
}

/** Files that stand where they stood, under another name. */
function renames(before: readonly SourceFile[], after: readonly SourceFile[]): [from: string, to: string][] {
  if (before.length !== after.length) return [];
  return before.flatMap(({ name, text }, index): [string, string][] => {
    const other = after[index];
    return other === undefined || other.name === name || other.text !== text ? [] : [[name, other.name]];
  });
}

/** What is to be told in one file: findings, and reasons of Pods that stay Pending; equal ones once, with ranges of the file. */
function localFindings(state: ReturnType<typeof usePage>["state"], file: number) {
  const { files, result } = state;
  const seen = new Set<string>();
  const all = [...findingsOf(state), ...(result?.reasons.flat() ?? [])];
  return all.flatMap((finding) => {
    const { place, code, message, severity } = finding;
    // What is only worth knowing is told beside the text.
    if (place === undefined || severity === "info") return [];
    const key = `${code} ${place.utf16Range.start} ${message}`;
    if (seen.has(key) || localRange(files, place.utf16Range).file !== file) return [];
    seen.add(key);
    // The finding itself keeps its place in the joined text, for its correction.
    return [{ ...finding, range: localPlace(files, place).utf16Range }];
  });
}
