// The picked device: what it offers, who holds it, where it stands in the text.

import { useMemo } from "preact/hooks";

import { type Tile, modelOf, tilesOf } from "../model/model";
import { LineLink } from "../parts";
import { usePage } from "../page";
import { Term } from "../term";
import { deviceRange } from "../state";
import { lineAt } from "../files";
import * as words from "../words";

export function DevicePanel() {
  const { state, act } = usePage();
  const { picked, inventory, result } = state;
  const key = picked?.kind === "device" ? picked.key : undefined;
  const tile = useMemo(() => {
    if (key === undefined || inventory === undefined) return undefined;
    return tilesOf(modelOf(inventory, result?.report)).find((tile) => tile.key === key);
  }, [key, inventory, result]);
  if (tile === undefined) return null;
  return (
    <aside class="device" aria-label={words.deviceTitle(tile)}>
      <header>
        <h3>{tile.device.name}</h3>
        <p class="muted">
          {tile.driver}, <Term name="pool">pool</Term> {tile.pool}, <Term name="slice">slice</Term> {tile.device.slice}
        </p>
        <Lines tile={tile} />
        <button type="button" class="small" onClick={() => act.pick(undefined)}>
          {words.CLOSE}
        </button>
      </header>
      <dl>
        <Row name={words.HELD_BY} values={tile.holders.length === 0 ? [words.owner(tile)] : tile.holders.map(words.holder)} />
        <Row name={words.PODS} values={usersOf(tile, state)} />
        <Row name={words.TAINTS} values={tile.device.taints} />
        <Row name={words.BINDING} values={tile.device.bindingConditions} />
        <Row name={words.ATTRIBUTES} values={tile.device.attributes.map(([name, value]) => `${name} = ${value}`)} />
        <Row name={words.CAPACITY} values={tile.fills.length > 0 ? tile.fills.map(words.fill) : tile.device.capacity.map(([name, value]) => `${name} = ${value}`)} />
        {tile.device.consumes.map(({ set, counters }) => (
          <Row name={`${words.DRAWS} ${set}`} values={counters.map(([name, value]) => `${name} ${value}`)} />
        ))}
      </dl>
    </aside>
  );
}

function Row({ name, values }: { name: string; values: readonly string[] }) {
  if (values.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {values.map((value) => (
          <span class="code">{value}</span>
        ))}
      </dd>
    </div>
  );
}

function Lines({ tile }: { tile: Tile }) {
  const { state } = usePage();
  const text = state.asked?.text;
  const range = deviceRange(state, tile.key);
  if (text === undefined || range === undefined) return null;
  return <LineLink place={{ line: lineAt(text, range.start), utf16Range: range }} />;
}

/** Pods that use the device's claims; of many only the first are named. */
function usersOf({ holders }: Tile, { result }: ReturnType<typeof usePage>["state"]): string[] {
  const claims = new Set(holders.map(({ claim }) => claim));
  const pods = (result?.report.pods ?? []).filter(({ namespace, claims: used }) =>
    used.some(({ claim }) => claim !== undefined && claims.has(`${namespace}/${claim}`)),
  );
  return words.some(pods.map(({ namespace, name }) => `${namespace}/${name}`), 8);
}
