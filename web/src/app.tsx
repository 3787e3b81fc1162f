// The page: an editor on the left, what DRA makes of its text on the right.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { taken } from "./dropping";
import { EditorPane } from "./editor/pane";
import { Header } from "./header";
import { usePage } from "./page";
import { summary } from "./model/rows";
import { VIEWS, type View, findingsOf } from "./state";
import { ResultView } from "./views/result";
import * as words from "./words";

type Load = () => Promise<ComponentType>;

const devicePanel: Load = () => import("./views/device").then(({ DevicePanel }) => DevicePanel);

/** Views that are loaded when they are first looked at. */
const LATER: Record<Exclude<View, "result">, Load> = {
  why: () => import("./views/why").then(({ WhyView }) => WhyView),
  time: () => import("./views/time").then(({ TimeView }) => TimeView),
  cel: () => import("./views/cel").then(({ CelView }) => CelView),
};

export function App() {
  useDrops();
  const isPicked = usePage().state.picked?.kind === "device";
  const results = useRef<HTMLElement>(null);
  const focusResults = () => results.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
  return (
    <>
      <Header />
      <main>
        <EditorPane onLeave={focusResults} />
        <section class="pane" ref={results} aria-label={words.ANSWER}>
          <Tabs />
          <Panel />
          {isPicked && <Later of={devicePanel} />}
        </section>
      </main>
    </>
  );
}

/** Files and folders can be dropped anywhere. */
function useDrops(): void {
  const { act } = usePage();
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const { dataTransfer } = event;
      if (dataTransfer === null || !dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      void taken(dataTransfer).then(({ files, refused }) => {
        latest.current.addFiles(files);
        if (refused.length > 0) latest.current.notice(words.refused(refused));
      });
    };
    // Before the editor, which would take a file for text.
    document.addEventListener("dragover", over, { capture: true });
    document.addEventListener("drop", drop, { capture: true });
    return () => {
      document.removeEventListener("dragover", over, { capture: true });
      document.removeEventListener("drop", drop, { capture: true });
    };
  }, []);
}

function Tabs() {
  const { state, act } = usePage();
  const list = useRef<HTMLDivElement>(null);
  const { result, failure, busy, loading, view } = state;
  const pending = result?.report.pods.filter(({ node }) => node === undefined).length ?? 0;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length] ?? view;
    act.show(next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div class="head views">
      <div class="tabs" role="tablist" aria-label={words.VIEWS_LABEL} ref={list} onKeyDown={onKeyDown}>
        {VIEWS.map((name) => (
          <button
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === view}
            aria-controls="panel"
            tabIndex={name === view ? 0 : -1}
            onClick={() => act.show(name)}
          >
            {words.VIEWS[name]}
            {name === "why" && pending > 0 && <span class="count"> {pending}</span>}
          </button>
        ))}
      </div>
      <p class="muted" role="status">
        {result !== undefined && failure === undefined && summary(result, findingsOf(state))}
      </p>
      {busy && <p class="busy">{loading === undefined ? words.WORKING : <Loading share={loading} />}</p>}
    </div>
  );
}

/** How far the engine is; typing can wait for it, and does not start it again. */
function Loading({ share }: { share: number }) {
  const percent = Math.floor(share * 100);
  return (
    <>
      {words.ENGINE} <progress max={100} value={percent} aria-label={words.ENGINE} /> {percent} %
    </>
  );
}

function Panel() {
  const { state } = usePage();
  const { view } = state;
  return (
    // What scrolls must be reachable by keyboard.
    <div class="scroll" id="panel" role="tabpanel" tabIndex={0} aria-labelledby={`tab-${view}`}>
      {view === "result" ? <ResultView /> : <Later key={view} of={LATER[view]} />}
    </div>
  );
}

function Later({ of }: { of: Load }) {
  const [View, setView] = useState<{ Component?: ComponentType; failure?: string }>({});
  useEffect(() => {
    let isWanted = true;
    of().then(
      (Component) => isWanted && setView({ Component }),
      () => isWanted && setView({ failure: words.NOT_LOADED }),
    );
    return () => {
      isWanted = false;
    };
  }, []);
  if (View.failure !== undefined) return <p class="notice error">{View.failure}</p>;
  return View.Component === undefined ? <p class="muted late">{words.LOADING}</p> : <View.Component />;
}
