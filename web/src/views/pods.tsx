// Pods with their claims and devices, claims without Pods, nodes: the picture's table twin, and what it does not show.

import type { AllocatedDevice } from "apportion";
import { useMemo } from "preact/hooks";

import { Dotted } from "../dotted";
import { Later, type Load } from "../later";
import { type PodRow, capacityText, claimsWithoutPod, deviceName, podRows, sameReasons, usage } from "../model/rows";
import { compareNumbered } from "../model/order";
import { FindingList, LineLink, useSome } from "../parts";
import { Term } from "../term";
import type { Result } from "../protocol";
import * as words from "../words";

const empty: Load = () => import("./empty").then(({ Empty }) => Empty);

export function Pods({ result }: { result: Result }) {
  const rows = useMemo(() => {
    const rows = podRows(result).sort((one, other) => compareNumbered(one.key, other.key));
    // Who waits is what people look for.
    return [...rows.filter(({ node }) => node === undefined), ...rows.filter(({ node }) => node !== undefined)];
  }, [result]);
  const same = useMemo(() => sameReasons(rows), [rows]);
  const { shown, more } = useSome(rows);
  if (rows.length === 0) {
    return (
      <>
        {!result.findings.some(({ severity }) => severity === "error") && <p class="notice">{words.NOTHING}</p>}
        {result.documents.length === 0 && <Later of={empty} />}
      </>
    );
  }
  return (
    <>
      <table id="pods">
        <caption>Pods</caption>
        <thead>
          <tr>
            <th scope="col">Pod</th>
            <th scope="col">Node</th>
            <th scope="col">
              <Term name="claim">Claim</Term>
            </th>
            <th scope="col" class="request">
              Request
            </th>
            <th scope="col">Device</th>
          </tr>
        </thead>
        {shown.map((row) => (
          <PodBody key={row.key} row={row} like={same.get(row.key)} />
        ))}
      </table>
      {more}
    </>
  );
}

/** One Pod: a line per device; the Pod's own cells span them all, and so do the claims' over their devices. One cause is said once. */
function PodBody({ row, like }: { row: PodRow; like: PodRow | undefined }) {
  const heights = row.claims.map(({ devices }) => Math.max(1, devices.length));
  const height = Math.max(1, heights.reduce((sum, height) => sum + height, 0));
  const lines: { claim: number; device: number }[] = heights.flatMap((height, claim) =>
    Array.from({ length: height }, (_, device) => ({ claim, device })),
  );
  if (lines.length === 0) lines.push({ claim: 0, device: 0 });
  return (
    <tbody>
      {lines.map(({ claim: claimIndex, device: deviceIndex }, line) => {
        const claim = row.claims[claimIndex];
        const device = claim?.devices[deviceIndex];
        return (
          <tr>
            {line === 0 && (
              <th scope="row" rowSpan={height}>
                <LineLink place={row.place} text={row.name} />
                <small>{row.namespace}</small>
                {row.owner !== undefined && <small>{row.owner}</small>}
              </th>
            )}
            {line === 0 && (
              <td rowSpan={height} class="short">
                {row.node === undefined ? <span class="badge pending">Pending</span> : row.node}
              </td>
            )}
            {deviceIndex === 0 && (
              <td rowSpan={heights[claimIndex] ?? 1}>
                {claim === undefined ? <span class="muted">none</span> : (claim.claim ?? <span class="muted">not made</span>)}
                {claim?.template !== undefined && <small>from {claim.template}</small>}
              </td>
            )}
            <DeviceCells device={device} node={row.node} />
          </tr>
        );
      })}
      {row.reasons.length > 0 && (
        <tr class="reasons">
          <td colSpan={5}>
            {like === undefined ? <FindingList findings={row.reasons} /> : <p class="muted">{words.sameReasons(like.name)}</p>}
          </td>
        </tr>
      )}
    </tbody>
  );
}

function DeviceCells({ device, node }: { device: AllocatedDevice | undefined; node: string | undefined }) {
  if (device === undefined) {
    return (
      <>
        <td class="request" />
        <td class="muted">no device</td>
      </>
    );
  }
  const capacity = capacityText(device);
  return (
    <>
      <td class="short request">{device.request}</td>
      <td class="short">
        <span class="of-request">{device.request}: </span>
        {deviceName(device, node)} <span class="muted"><Dotted name={device.driver} /></span>
        {device.adminAccess && <small>admin access</small>}
        {capacity !== "" && <small>{capacity}</small>}
      </td>
    </>
  );
}

export function LooseClaims({ result }: { result: Result }) {
  const claims = useMemo(
    () => claimsWithoutPod(result).sort((one, other) => compareNumbered(`${one.namespace}/${one.name}`, `${other.namespace}/${other.name}`)),
    [result.report],
  );
  const { shown, more } = useSome(claims);
  if (shown.length === 0) return null;
  return (
    <>
      <table>
        <caption>Claims that no Pod here uses</caption>
        <thead>
          <tr>
            <th scope="col">Claim</th>
            <th scope="col">Devices</th>
            <th scope="col">Reserved for</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((claim) => (
            <tr key={`${claim.namespace}/${claim.name}`}>
              <th scope="row">
                {claim.name}
                <small>{claim.namespace}</small>
              </th>
              <td>
                {claim.devices.map((device) => (
                  <div>
                    {`${device.request}: ${deviceName(device, undefined)}`} <span class="muted">{device.driver}</span>
                  </div>
                ))}
                {claim.devices.length === 0 && <span class="muted">{claim.allocated ? "none" : "not allocated"}</span>}
              </td>
              <td>{claim.reservedFor.join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

export function Nodes({ result }: { result: Result }) {
  // An inferred node with nothing on it is nobody's.
  const isReal = ({ inferred, localDevices, pods }: Result["report"]["nodes"][number]) => !inferred || localDevices + pods.length > 0;
  const nodes = useMemo(() => result.report.nodes.filter(isReal).sort((one, other) => compareNumbered(one.name, other.name)), [result.report]);
  const { shown, more } = useSome(nodes);
  if (shown.length === 0) return null;
  return (
    <>
      <table>
        <caption>Nodes</caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col" class="number">
              Devices in use
            </th>
            <th scope="col">Pods</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((node) => (
            <tr key={node.name}>
              <th scope="row">
                {node.name}
                {node.inferred && <small>inferred</small>}
              </th>
              <td class="number">{usage(node)}</td>
              <td>{[...node.pods].sort(compareNumbered).join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}
