// What DRA does: findings, the picture, and the same in tables.

import type { PlacedFinding } from "apportion";
import { useMemo } from "preact/hooks";

import { headlineOf } from "../model/headline";
import { type ClaimView, type Model, type Tile, filtered, finder, modelOf, tilesOf } from "../model/model";
import { compareNumbered } from "../model/order";
import { FailureBox, Findings, Ticked, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import { Picture } from "../picture/picture";
import { findingsOf } from "../state";
import * as words from "../words";
import { LinksSection } from "./links";
import { LooseClaims, Nodes, Pods } from "./pods";

export function ResultView() {
  const { state } = usePage();
  const { result, failure, inventory } = state;
  const findings = useMemo(() => findingsOf(state), [result, state.checked]);
  const notes = findings.filter(({ severity }) => severity === "info");
  // By weight, then in the order of the text.
  const problems = ["error", "warning"].flatMap((weight) => findings.filter(({ severity }) => severity === weight));
  const model = useMemo(() => inventory && modelOf(inventory, result?.report), [inventory, result]);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      <Answer findings={findings} />
      <Findings title={words.FINDINGS} findings={problems} />
      {model !== undefined && model.devices > 0 && <Devices model={model} />}
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
  const isPicked = (key: string, claims: readonly string[]) =>
    (picked?.kind === "device" && picked.key === key) || (picked?.kind === "claim" && claims.includes(picked.key));
  return (
    <section class="devices" aria-label={words.DEVICES}>
      <Filters model={model} />
      <Legend model={shown} />
      <p class="muted" role="status">
        {shown.devices !== model.devices && words.shownDevices(shown.devices, model.devices)}
      </p>
      <Picture model={shown} isPicked={isPicked} onPick={(key) => act.pick({ kind: "device", key })} />
      <LinksSection model={model} />
      <DeviceTable model={shown} />
    </section>
  );
}

function Filters({ model }: { model: Model }) {
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

/** Claims with devices, each with its colour and those who use it; one of them picks its devices. */
function Legend({ model }: { model: Model }) {
  const { state, act } = usePage();
  const { picked } = state;
  const { shown, more } = useSome(heldClaims(model));
  if (shown.length === 0) return null;
  return (
    <>
      <ul class="legend" aria-label={words.CLAIMS}>
        {shown.map((claim) => {
          const isPicked = picked?.kind === "claim" && picked.key === claim.key;
          return (
            <li>
              <button
                type="button"
                class={`chip c${claim.colour}`}
                aria-pressed={isPicked}
                onClick={() => act.pick(isPicked ? undefined : { kind: "claim", key: claim.key })}
              >
                <span class="name">{claim.name}</span> <span class="users">{words.users(claim)}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {more}
    </>
  );
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
