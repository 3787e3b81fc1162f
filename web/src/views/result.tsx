// What DRA does: findings, the picture, and the same in tables.

import type { PlacedFinding } from "apportion";
import { useMemo, useState } from "preact/hooks";

import { headlineOf } from "../model/headline";
import { type ClaimView, type Model, type Tile, filtered, finder, modelOf, nodesOf, onlyNode, tilesOf } from "../model/model";
import { missing } from "../model/missing";
import { compareNumbered } from "../model/order";
import { FailureBox, Findings, Ticked, useSome } from "../parts";
import { Later, type Load } from "../later";
import { useAnswer, usePage } from "../page";
import { HeatMap, type Level, MANY_DEVICES } from "../picture/levels";
import { Picture } from "../picture/picture";
import { type Picked, findingsOf } from "../state";
import * as words from "../words";
import { LinksSection } from "./links";
import { LooseClaims, Nodes, Pods } from "./pods";

const LEVELS = ["cluster", "devices"] as const;

const offer: Load = () => import("./offer").then(({ Offer }) => Offer);

export function ResultView() {
  const { state } = usePage();
  const { result, failure, inventory } = state;
  const findings = useMemo(() => findingsOf(state), [result, state.checked]);
  const notes = findings.filter(({ severity }) => severity === "info");
  // By weight, then in the order of the text.
  const problems = ["error", "warning"].flatMap((weight) => findings.filter(({ severity }) => severity === weight));
  // While the text is broken, what it was before is worth more than a part of it.
  const isStale = inventory?.isBroken === true && state.sound !== undefined;
  const drawn = isStale ? state.sound : { inventory, result };
  const model = useMemo(() => drawn?.inventory && modelOf(drawn.inventory, drawn.result?.report), [drawn?.inventory, drawn?.result]);
  const offered = useMemo(() => (inventory === undefined ? [] : missing(inventory)), [inventory]);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      <Answer findings={findings} />
      {offered.length > 0 && <Later of={offer} />}
      <Findings title={words.FINDINGS} findings={problems} />
      {model !== undefined && model.devices > 0 && (
        <div class={isStale ? "stale" : ""}>
          {isStale && <p class="muted">{words.STALE}</p>}
          <Devices model={model} />
        </div>
      )}
      {result !== undefined && (
        <>
          <Pods result={result} />
          <LooseClaims result={result} />
          <Nodes result={result} />
        </>
      )}
      <Findings title={words.NOTES} findings={notes} />
    </>
  );
}

/** The answer in one sentence, with what can be done about it; it stays while the next one is awaited. */
function Answer({ findings }: { findings: readonly PlacedFinding[] }) {
  const { state, act } = usePage();
  const { result, plain, failure } = state;
  const said = result && failure === undefined ? headlineOf(result, plain, findings) : undefined;
  if (said === undefined) return null;
  const { text, isGood, subject, fix } = said;
  return (
    <section class={`answer ${isGood ? "good" : "bad"}`} aria-label={words.HEADLINE}>
      <p>
        <span aria-hidden="true">{isGood ? "✓" : "✕"}</span> <Ticked text={text} />
      </p>
      {subject !== undefined && (
        <button type="button" onClick={() => act.show("why")}>
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
  const { filter, picked } = state;
  const { deviceClass } = filter;
  const members = useAnswer("members", deviceClass === "" ? undefined : { deviceClass });
  const shown = useMemo(() => {
    if (filter.text + filter.claim + deviceClass === "") return model;
    const isFound = finder(filter.text);
    const selected = deviceClass === "" ? undefined : new Set(members.answer);
    const ofClaim = ({ holders }: Tile) => filter.claim === "" || holders.some(({ claim }) => claim === filter.claim);
    return filtered(model, (tile) => isFound(tile) && ofClaim(tile) && (selected?.has(tile.key) ?? true));
  }, [model, filter, members.answer]);
  const ofWorkload = picked?.kind === "workload" ? new Set(model.claims.filter(({ workload }) => workload.key === picked.key).map(({ key }) => key)) : undefined;
  const isPicked = (key: string, claims: readonly string[]) => {
    if (picked?.kind === "device") return picked.key === key;
    return picked?.kind === "claim" ? claims.includes(picked.key) : claims.some((claim) => ofWorkload?.has(claim));
  };
  const { level, node, goTo } = useLevel(shown);
  // The search leads to the first device that it finds.
  const jump = () => {
    const [first] = tilesOf(shown);
    if (first === undefined) return;
    goTo.level("devices");
    act.pick({ kind: "device", key: first.key });
  };
  const seen = useMemo(() => (node === undefined ? shown : onlyNode(shown, node)), [shown, node]);
  return (
    <section class="devices" aria-label={words.DEVICES} onWheel={goTo.onWheel} onKeyDown={goTo.onKeyDown}>
      <Filters model={model} onJump={jump} />
      <Legend model={shown} />
      <p class="muted" role="status">
        {shown.devices !== model.devices && words.shownDevices(shown.devices, model.devices)}
      </p>
      {model.devices > MANY_DEVICES && <Levels level={level} node={node} onLevel={goTo.level} />}
      {level === "cluster" ? (
        <HeatMap model={shown} onNode={goTo.node} />
      ) : (
        <Picture model={seen} isPicked={isPicked} onPick={(key) => act.pick({ kind: "device", key })} />
      )}
      <LinksSection model={model} />
      <DeviceTable model={shown} />
    </section>
  );
}

/** What is looked at: all nodes, the devices of one of them, or all devices. The wheel with Ctrl, a pinch, and the keys + and − change it. */
function useLevel(shown: Model) {
  const [wish, setWish] = useState<{ level: Level; node?: string }>();
  const isLarge = shown.devices > MANY_DEVICES;
  const isThere = wish?.node === undefined || nodesOf(shown).some(({ title }) => title === wish.node);
  const { level, node } = wish !== undefined && isThere ? { node: undefined, ...wish } : { level: isLarge ? ("cluster" as const) : ("devices" as const), node: undefined };
  const zoom = (isCloser: boolean) => {
    if (level === "cluster" === isCloser) setWish({ level: isCloser ? "devices" : "cluster" });
  };
  const goTo = {
    level: (level: Level) => setWish({ level }),
    node: (node: string) => setWish({ level: "devices", node }),
    onWheel: (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isField = event.target instanceof Element && event.target.closest("input, select, textarea") !== null;
      if (isField || event.ctrlKey || event.altKey || event.metaKey || !["+", "=", "-"].includes(event.key)) return;
      event.preventDefault();
      zoom(event.key !== "-");
    },
  };
  return { level, node, goTo };
}

function Levels({ level, node, onLevel }: { level: Level; node: string | undefined; onLevel: (level: Level) => void }) {
  return (
    <p class="row" role="group" aria-label={words.LEVELS}>
      {LEVELS.map((name) => (
        <button type="button" aria-pressed={name === level && node === undefined} onClick={() => onLevel(name)}>
          {words.LEVEL[name]}
        </button>
      ))}
      {node !== undefined && <strong>{node}</strong>}
    </p>
  );
}

function Filters({ model, onJump }: { model: Model; onJump: () => void }) {
  const { state, act } = usePage();
  const { filter, inventory } = state;
  const held = heldClaims(model);
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
        <select value={filter.claim} onChange={({ currentTarget: { value } }) => act.filter({ claim: value })}>
          <option value="">{words.ALL}</option>
          {held.map(({ key }) => (
            <option value={key}>{key}</option>
          ))}
        </select>
      </label>
      <label>
        {words.CLASS}{" "}
        <select value={filter.deviceClass} onChange={({ currentTarget: { value } }) => act.filter({ deviceClass: value })}>
          <option value="">{words.ALL}</option>
          {inventory?.classes.map((name) => (
            <option value={name}>{name}</option>
          ))}
        </select>
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

function DeviceTable({ model }: { model: Model }) {
  const tiles = useMemo(() => tilesOf(model), [model]);
  const { act } = usePage();
  const { shown, more } = useSome(tiles);
  return (
    <details class="twin">
      <summary>{words.DEVICE_TABLE}</summary>
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
              <td>{tile.holders.length === 0 ? <span class="muted">{words.FREE}</span> : tile.holders.map(words.holder).join(", ")}</td>
              <td>{words.remarks(tile).join("; ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </details>
  );
}
