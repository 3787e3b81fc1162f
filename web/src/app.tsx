// The page: an editor on the left, what DRA makes of its text on the right.

import { type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { type Editor, createEditor } from "./editor";
import { VERSIONS, isVersion } from "./protocol";
import { ResultPane } from "./result";
import type { State } from "./state";
import * as words from "./words";

export interface Actions {
  edit(text: string): void;
  chooseVersion(version: (typeof VERSIONS)[number]): void;
}

export function App({ state, actions }: { state: Signal<State>; actions: Actions }) {
  const { question, busy, result, failure } = state.value;
  const frame = useRef<HTMLDivElement>(null);
  const resultHeading = useRef<HTMLHeadingElement>(null);
  const editor = useRef<Editor>(null);

  useEffect(() => {
    if (frame.current === null || editor.current !== null) return;
    const onLeave = () => resultHeading.current?.focus();
    editor.current = createEditor(frame.current, question.text, { onEdit: actions.edit, onLeave });
  }, []);
  useEffect(() => editor.current?.showFindings(marked(result)), [result]);

  return (
    <>
      <header class="top">
        <h1>{words.TITLE}</h1>
        <p>{words.TAGLINE}</p>
        <label>
          {words.VERSION_LABEL}{" "}
          <select
            value={question.version}
            onChange={({ currentTarget: { value } }) => isVersion(value) && actions.chooseVersion(value)}
          >
            {VERSIONS.map((version) => (
              <option value={version}>{version === "all" ? words.ALL_VERSIONS : version}</option>
            ))}
          </select>
        </label>
      </header>
      <main>
        <section class="pane" aria-labelledby="manifests">
          <div class="head">
            <h2 id="manifests">{words.MANIFESTS}</h2>
            <p class="muted">{words.PRIVACY}</p>
          </div>
          <div class="editor" ref={frame} />
        </section>
        <section class="pane" aria-labelledby="result" aria-busy={busy}>
          <ResultPane
            heading={resultHeading}
            busy={busy}
            result={result}
            failure={failure}
            onReveal={(place) => editor.current?.reveal(place.utf16Range)}
          />
        </section>
      </main>
    </>
  );
}

/** Everything that can be shown in the text: the findings, and the reasons of Pods that stay Pending. */
function marked(result: State["result"]) {
  return result === undefined ? [] : [...result.findings, ...distinct(result.reasons.flat())];
}

/** Replicas share their reasons; one mark is enough. */
function distinct<T>(values: readonly T[]): T[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value);
    return !seen.has(key) && seen.add(key);
  });
}
