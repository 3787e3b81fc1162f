// What DRA does: findings, the picture, and the same in tables.

import type { PlacedFinding, Severity } from "apportion";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Plain, headlineOf } from "../model/headline";
import { type ClaimView, type Model, modelOf, nodesOf, refusedSlices, tilesOf } from "../model/model";
import { missing } from "../model/missing";
import { compareNumbered } from "../model/order";
import { LEVELS, type Level, type Zoom, isLarge, seenOf, zoomOf, zoomed } from "../model/zoom";
import { Chooser, FailureBox, Findings, LineLink, Ticked, useSome } from "../parts";
import { Later, type Load } from "../later";
import { usePage } from "../page";
import type { Result } from "../protocol";
import { type Anchor, Pinch, type Point, type Step, Wheel, anchorAt, middle } from "../picture/gestures";
import { HeatMap, MiniMap } from "../picture/levels";
import { Picture } from "../picture/picture";
import { type Picked, findingsOf } from "../state";
import * as words from "../words";
import { LinksSection } from "./links";
import { LooseClaims, Nodes, Pods } from "./pods";
import { useShown } from "./shown";

const offer: Load = () => import("./offer").then(({ Offer }) => Offer);

const NO_FINDINGS: readonly PlacedFinding[] = [];

export function ResultView() {
  const { state } = usePage();
  const { result, failure, inventory } = state;
  const findings = useMemo(() => findingsOf(state), [result, state.checked]);
  // What is the same as at the last drawing is not drawn again.
  const told = useMemo(() => {
    const of = (weight: Severity) => findings.filter(({ severity }) => severity === weight);
    return {
      // By weight, then in the order of the text.
      problems: <Findings title={words.FINDINGS} findings={[...of("error"), ...of("warning")]} />,
      notes: <Findings title={words.NOTES} findings={of("info")} />,
    };
  }, [findings]);
  // While the text is broken, what it was before is worth more than a part of it.
  const stale = inventory?.isBroken === true && hasDocuments(state.sound?.result) ? state.sound : undefined;
  const isStale = stale !== undefined;
  const drawn = stale ?? { inventory, result, plain: state.plain };
  const before = useRef(told);
  if (!isStale) before.current = told;
  const broken = isStale ? findings.find(({ severity }) => severity === "error") : undefined;
  const hasObjects = hasDocuments(drawn.result);
  const tables = useMemo(() => drawn.result !== undefined && (
    <>
      <Pods result={drawn.result} />
      <LooseClaims result={drawn.result} />
      {hasObjects && <Nodes result={drawn.result} />}
    </>
  ), [drawn.result]);
  const refused = useMemo(() => refusedSlices(drawn.result?.findings ?? []), [drawn.result]);
  const report = drawn.result?.report;
  // Of most edits the report is the same object.
  const model = useMemo(() => drawn.inventory && modelOf(drawn.inventory, report, [], refused), [drawn.inventory, report, [...refused].join("\n")]);
  const devices = useMemo(() => model !== undefined && model.devices > 0 && <Devices model={model} />, [model]);
  const offered = useMemo(() => (drawn.inventory === undefined ? [] : missing(drawn.inventory)), [drawn.inventory]);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      {broken !== undefined && <Broken finding={broken} />}
      <div class={isStale ? "stale" : ""}>
        <Answer result={drawn.result} plain={drawn.plain} findings={isStale ? NO_FINDINGS : findings} />
        {offered.length > 0 && <Later of={offer} />}
        {devices}
        {isStale ? (
          <div inert aria-hidden="true">
            {before.current.problems}
          </div>
        ) : (
          told.problems
        )}
        {tables}
      </div>
      {isStale && told.problems}
      {hasObjects && told.notes}
    </>
  );
}

function hasDocuments(result: Result | undefined): boolean {
  return result !== undefined && result.documents.length > 0;
}

/** What is wrong with a text that cannot be read. It lies over the answer, which stays where it is. */
function Broken({ finding }: { finding: PlacedFinding }) {
  return (
    <div class="broken">
      <p role="status">
        <Ticked text={finding.message} /> <LineLink place={finding.place} /> <span class="muted">{words.STALE}</span>
      </p>
    </div>
  );
}

/** The answer in one sentence, with what can be done about it; it stays while the next one is awaited. */
function Answer({ result, plain, findings }: { result: Result | undefined; plain: Plain | undefined; findings: readonly PlacedFinding[] }) {
  const { state, act } = usePage();
  const { failure } = state;
  const said = useMemo(() => result && failure === undefined ? headlineOf(result, plain, findings) : undefined, [result, plain, failure, findings]);
  if (said === undefined) return null;
  const { text, isGood, subject, fix } = said;
  return (
    <section class={`answer ${isGood ? "good" : "bad"}`} aria-label={words.HEADLINE}>
      <p>
        <span aria-hidden="true">{isGood ? "✓" : "✕"}</span> <Ticked text={text} />
      </p>
      {subject !== undefined && (
        <button
          type="button"
          onClick={() => {
            act.show("why");
            // The button is gone; the keyboard goes on from the tab.
            document.getElementById("tab-why")?.focus();
          }}
        >
          {words.VIEWS.why}
        </button>
      )}
      {fix !== undefined && (
        <button type="button" title={fix.message} onClick={() => act.fix(fix)}>
          {words.APPLY_FIX}
        </button>
      )}
    </section>
  );
}

/** The picture with its filter and legend, and its table. */
function Devices({ model }: { model: Model }) {
  const { state, act } = usePage();
  const { picked } = state;
  const shown = useShown(model);
  const ofWorkload = picked?.kind === "workload" ? new Set(model.claims.filter(({ workload }) => workload.key === picked.key).map(({ key }) => key)) : undefined;
  const isPicked = (key: string, claims: readonly string[]) => {
    if (picked?.kind === "device") return picked.key === key;
    return picked?.kind === "claim" ? claims.includes(picked.key) : claims.some((claim) => ofWorkload?.has(claim));
  };
  const { zoom, goTo, section, anchor } = useZoom(shown);
  const { level, node } = zoom;
  // The search leads to the first device that it finds.
  const jump = () => {
    const [first] = tilesOf(shown);
    if (first === undefined) return;
    goTo.level("devices");
    act.pick({ kind: "device", key: first.key });
  };
  const seen = useMemo(() => seenOf(shown, { level, node }), [shown, level, node]);
  return (
    <section class="devices" ref={section} aria-label={words.DEVICES} onWheel={goTo.onWheel} onKeyDown={goTo.onKeyDown}>
      <Filters model={model} onJump={jump} />
      <Legend model={shown} />
      <p class="muted" role="status">
        {shown.devices !== model.devices && words.shownDevices(shown.devices, model.devices)}
      </p>
      {(isLarge(model) || level !== "devices" || node !== undefined) && <Levels model={shown} zoom={zoom} goTo={goTo} />}
      {level !== "cluster" && isLarge(model) && <MiniMap model={shown} node={node} onNode={goTo.node} />}
      {level === "cluster" ? (
        <HeatMap model={shown} onNode={goTo.node} anchor={anchor} />
      ) : (
        <Picture
          model={seen}
          detail={level}
          anchor={anchor}
          isPicked={isPicked}
          onPick={(key) => act.pick({ kind: "device", key })}
          {...(level === "pools" ? { onNode: goTo.node } : {})}
        />
      )}
      <LinksSection model={model} />
      <DeviceTable model={shown} />
    </section>
  );
}

/** As long as a node may take to stand in its place after a change of the level. */
const ANCHORED_MS = 500;

/** What is looked at. The wheel with Ctrl, two fingers, and the keys + and − change it; what they point at stays in its place. */
function useZoom(shown: Model) {
  const { state, act } = usePage();
  const zoom = useMemo(() => zoomOf(shown, state.zoom), [shown, state.zoom]);
  const section = useRef<HTMLElement>(null);
  const anchor = useRef<Anchor | undefined>(undefined);
  const wheel = useMemo(() => new Wheel(), []);
  const step = (step: Step, at?: Point) => {
    const next = zoomed(zoom, step > 0);
    if (step === 0 || (next.level === zoom.level && next.node === zoom.node)) return;
    anchor.current = section.current !== null && at !== undefined ? anchorAt(section.current, at) : undefined;
    act.zoom(next);
    // A node that is not there at the new level must not move the page later.
    setTimeout(() => (anchor.current = undefined), ANCHORED_MS);
  };
  usePinch(section, step);
  const goTo = {
    level: (level: Level) => act.zoom({ level }),
    node: (node: string) => act.zoom({ level: "devices", node }),
    onWheel: (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      step(wheel.turn(event), { x: event.clientX, y: event.clientY });
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isField = event.target instanceof Element && event.target.closest("input, select, textarea") !== null;
      if (isField || event.ctrlKey || event.altKey || event.metaKey || !["+", "=", "-"].includes(event.key)) return;
      event.preventDefault();
      step(event.key === "-" ? -1 : 1, event.target instanceof Element ? middleOf(event.target.getBoundingClientRect()) : undefined);
    },
  };
  return { zoom, goTo, section, anchor };
}

function middleOf({ x, y, width, height }: DOMRect): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** Two fingers on an element go from level to level; one of them scrolls as everywhere. */
function usePinch(element: { current: HTMLElement | null }, onStep: (step: Step, at: Point) => void): void {
  const latest = useRef(onStep);
  latest.current = onStep;
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    const pinch = new Pinch();
    const fingersOf = ({ touches }: TouchEvent) => [...touches].map(({ clientX, clientY }) => ({ x: clientX, y: clientY }));
    let fingers = new AbortController();
    const begin = (event: TouchEvent) => {
      pinch.begin(fingersOf(event));
      fingers.abort();
      fingers = new AbortController();
      const { signal } = fingers;
      // What is under a finger hears of it to the end, even when another level has taken its place.
      for (const target of new Set([...event.touches].map(({ target }) => target))) {
        target.addEventListener("touchmove", move as EventListener, { passive: false, signal });
        for (const end of ["touchend", "touchcancel"]) target.addEventListener(end, begin as EventListener, { passive: true, signal });
      }
    };
    const move = (event: TouchEvent) => {
      const at = fingersOf(event);
      if (at.length !== 2) return;
      // The browser would enlarge the page.
      if (event.cancelable) event.preventDefault();
      latest.current(pinch.move(at), middle(at));
    };
    current.addEventListener("touchstart", begin, { passive: true });
    return () => {
      fingers.abort();
      current.removeEventListener("touchstart", begin);
    };
  }, []);
}

function Levels({ model, zoom: { level, node }, goTo }: { model: Model; zoom: Zoom; goTo: ReturnType<typeof useZoom>["goTo"] }) {
  const nodes = useMemo(() => nodesOf(model).map(({ title }) => ({ value: title, label: title })), [model]);
  return (
    <p class="row" role="group" aria-label={words.LEVELS}>
      {LEVELS.map((name) => (
        <button type="button" aria-pressed={name === level && node === undefined} onClick={() => goTo.level(name)}>
          {words.LEVEL[name]}
        </button>
      ))}
      <label>
        {words.NODE}{" "}
        <Chooser options={nodes} value={node ?? ""} none={words.ALL} onChoose={(value) => (value === "" ? goTo.level("cluster") : goTo.node(value))} />
      </label>
    </p>
  );
}

function Filters({ model, onJump }: { model: Model; onJump: () => void }) {
  const { state, act } = usePage();
  const { filter, inventory } = state;
  const options = useMemo(() => ({
    claims: heldClaims(model).map(({ key }) => ({ value: key, label: key })),
    classes: (inventory?.classes ?? []).map((name) => ({ value: name, label: name })),
  }), [model, inventory]);
  return (
    <div class="bar" role="search" aria-label={words.FILTER}>
      <label>
        {words.FIND}{" "}
        <input
          id="find"
          type="search"
          value={filter.text}
          placeholder={words.FIND_HINT}
          onInput={({ currentTarget: { value } }) => act.filter({ text: value })}
          onKeyDown={({ key }) => key === "Enter" && onJump()}
        />
      </label>
      <label>
        {words.CLAIM}{" "}
        <Chooser options={options.claims} value={filter.claim} none={words.ALL} onChoose={(claim) => act.filter({ claim })} />
      </label>
      <label>
        {words.CLASS}{" "}
        <Chooser options={options.classes} value={filter.deviceClass} none={words.ALL} onChoose={(deviceClass) => act.filter({ deviceClass })} />
      </label>
    </div>
  );
}

/** Claims that hold devices, in the order of their names. */
function heldClaims({ claims }: Model): ClaimView[] {
  return claims.filter(({ devices }) => devices.length > 0).sort((one, other) => compareNumbered(one.key, other.key));
}

/** More workloads than this have no legend: it would be a wall of chips. */
const MOST_CHIPS = 12;

/** Workloads whose claims have devices, each with its colour and what it holds; one of them picks its devices. */
function Legend({ model }: { model: Model }) {
  const { state, act } = usePage();
  const { picked } = state;
  const workloads = useMemo(() => byWorkload(heldClaims(model)), [model]);
  if (workloads.length === 0 || workloads.length > MOST_CHIPS) return null;
  return (
    <ul class="legend" aria-label={words.CLAIMS}>
      {workloads.map((claims) => {
        const [first] = claims;
        if (first === undefined) return null;
        const wish: Picked = claims.length === 1 ? { kind: "claim", key: first.key } : { kind: "workload", key: first.workload.key };
        const isPicked = picked?.kind === wish.kind && picked.key === wish.key;
        return (
          <li>
            <button type="button" class={`chip c${first.colour}`} aria-pressed={isPicked} onClick={() => act.pick(isPicked ? undefined : wish)}>
              <span class="name">{claims.length === 1 ? first.name : first.workload.name}</span> <span class="users">{words.holdings(claims)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Claims of one workload together, in the order of the first of each. */
function byWorkload(claims: readonly ClaimView[]): ClaimView[][] {
  const found = new Map<string, ClaimView[]>();
  for (const claim of claims) {
    const known = found.get(claim.workload.key);
    if (known === undefined) found.set(claim.workload.key, [claim]);
    else known.push(claim);
  }
  return [...found.values()];
}

/** Made once it is looked at: most tables never are. */
function DeviceTable({ model }: { model: Model }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="twin" onToggle={({ currentTarget: { open } }) => setIsOpen(open)}>
      <summary>{words.DEVICE_TABLE}</summary>
      {isOpen && <DeviceRows model={model} />}
    </details>
  );
}

function DeviceRows({ model }: { model: Model }) {
  const tiles = useMemo(() => tilesOf(model), [model]);
  const { act } = usePage();
  const { shown, more } = useSome(tiles);
  return (
    <>
      <table>
        <caption class="hidden">{words.DEVICES}</caption>
        <thead>
          <tr>
            <th scope="col">Device</th>
            <th scope="col">Pool</th>
            <th scope="col">Held by</th>
            <th scope="col">Remarks</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((tile) => (
            <tr key={tile.key}>
              <th scope="row">
                <button type="button" class="link" onClick={() => act.pick({ kind: "device", key: tile.key })}>
                  {tile.device.name}
                </button>
              </th>
              <td>
                {tile.pool} <span class="muted">{tile.driver}</span>
              </td>
              <td>{tile.holders.length === 0 ? <span class="muted">{words.owner(tile)}</span> : tile.holders.map(words.holder).join(", ")}</td>
              <td>{words.remarks(tile).join("; ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}
