// The page: an editor on the left, what DRA makes of its text on the right.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { pasted, taken } from "./dropping";
import { EditorPane } from "./editor/pane";
import { Header } from "./header";
import { Later, type Load } from "./later";
import { isWritten, usePage } from "./page";
import { missing } from "./model/missing";
import { summary } from "./model/rows";
import { SIDES, VIEWS, type View, findingsOf } from "./state";
import type { Taken } from "./reading";
import { ResultView } from "./views/result";
import * as words from "./words";

const devicePanel: Load = () => import("./views/device").then(({ DevicePanel }) => DevicePanel);

const offer: Load = () => import("./views/offer").then(({ Offer }) => Offer);

/** Views that have little to say where what is asked for is not there; the result offers it in its own place. */
const OFFERING: readonly View[] = ["why", "fit", "whatif", "nodes"];

const tour: Load = () => import("./views/tour").then(({ Tour }) => Tour);

/** Views that are loaded when they are first looked at. */
const LATER: Record<Exclude<View, "result">, Load> = {
  why: () => import("./views/why").then(({ WhyView }) => WhyView),
  fit: () => import("./views/fit").then(({ FitView }) => FitView),
  whatif: () => import("./views/whatif").then(({ WhatIfView }) => WhatIfView),
  nodes: () => import("./views/nodes").then(({ NodesView }) => NodesView),
  compare: () => import("./views/compare").then(({ CompareView }) => CompareView),
  time: () => import("./views/time").then(({ TimeView }) => TimeView),
  cel: () => import("./views/cel").then(({ CelView }) => CelView),
};

export function App() {
  useDrops();
  const { state, act } = usePage();
  const isPicked = state.picked?.kind === "device";
  const results = useRef<HTMLElement>(null);
  const focusResults = () => {
    act.turn("answer");
    requestAnimationFrame(() => results.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus());
  };
  return (
    <>
      <Header />
      <Sides />
      <main class={`shows-${state.side}`}>
        <EditorPane onLeave={focusResults} />
        <Splitter />
        <section class="pane result" ref={results} aria-label={words.ANSWER}>
          <h2 class="hidden">{words.ANSWER}</h2>
          <Tabs />
          <Panel />
          {isPicked && <Later of={devicePanel} />}
        </section>
      </main>
      {state.tour !== undefined && <Later of={tour} />}
    </>
  );
}

/** Files and folders can be dropped anywhere, and manifests pasted wherever nothing is written. */
function useDrops(): void {
  const { act } = usePage();
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const bring = ({ files, refused }: Taken) => {
      latest.current.bring(files);
      if (refused.length > 0) latest.current.notice(words.refused(refused));
    };
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const { dataTransfer } = event;
      if (dataTransfer === null || !dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      void taken(dataTransfer).then(bring);
    };
    const paste = (event: ClipboardEvent) => {
      const { clipboardData, target } = event;
      if (clipboardData === null || isWritten(target)) return;
      event.preventDefault();
      void pasted(clipboardData).then(bring);
    };
    // Before the editor, which would take a file for text, and draw anew what a paste is in.
    document.addEventListener("dragover", over, { capture: true });
    document.addEventListener("drop", drop, { capture: true });
    document.addEventListener("paste", paste, { capture: true });
    return () => {
      document.removeEventListener("dragover", over, { capture: true });
      document.removeEventListener("drop", drop, { capture: true });
      document.removeEventListener("paste", paste, { capture: true });
    };
  }, []);
}

const LEAST = 20;
const MOST = 80;

/** Between the panes; dragged, or moved by arrow keys. */
function Splitter() {
  const [share, setShare] = useState(45);
  const bar = useRef<HTMLDivElement>(null);
  const move = (wish: number) => {
    const next = Math.max(LEAST, Math.min(MOST, Math.round(wish)));
    setShare(next);
    bar.current?.parentElement?.style.setProperty("--split", `${next}%`);
  };
  const onPointerMove = ({ buttons, clientX }: PointerEvent) => {
    const frame = bar.current?.parentElement?.getBoundingClientRect();
    if (buttons === 1 && frame !== undefined) move(((clientX - frame.left) / frame.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(share + step);
  };
  return (
    <div
      class="splitter"
      ref={bar}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={words.SPLITTER}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={share}
      onPointerDown={({ pointerId }) => bar.current?.setPointerCapture(pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  );
}

/** Where there is room for one pane, which one; wide screens show both. */
function Sides() {
  const { state, act } = usePage();
  return (
    <nav class="sides" aria-label={words.SIDES_LABEL}>
      {SIDES.map((side) => (
        <button type="button" aria-pressed={side === state.side} onClick={() => act.turn(side)}>
          {words.SIDES[side]}
        </button>
      ))}
    </nav>
  );
}

function Tabs() {
  const { state, act } = usePage();
  const list = useRef<HTMLDivElement>(null);
  const { result, checked, failure, busy, loading, view } = state;
  const pending = useMemo(() => result?.report.pods.filter(({ node }) => node === undefined).length ?? 0, [result]);
  const told = useMemo(() => result && summary(result, findingsOf({ result, checked })), [result, checked]);
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
      <div class="told">
        <p class="muted" role="status">
          {failure === undefined && told}
        </p>
        {busy && (
          <p class="busy">
            {loading === undefined ? words.WORKING : <Loading share={loading} />}{" "}
            {loading === undefined && (
              <button type="button" class="small" onClick={() => act.cancel()}>
                {words.CANCEL}
              </button>
            )}
          </p>
        )}
      </div>
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
  const { view, inventory } = state;
  const isLacking = useMemo(() => inventory !== undefined && missing(inventory).length > 0, [inventory]);
  return (
    // What scrolls must be reachable by keyboard. Each view begins at its top.
    <div key={view} class="scroll" id="panel" role="tabpanel" tabIndex={0} aria-labelledby={`tab-${view}`}>
      {isLacking && OFFERING.includes(view) && <Later of={offer} />}
      {view === "result" ? <ResultView /> : <Later key={view} of={LATER[view]} />}
    </div>
  );
}
