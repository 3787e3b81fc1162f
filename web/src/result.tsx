// The result: summary, Pods with their claims and devices, nodes, findings.

import type { AllocatedDevice, Place, PlacedFinding, Severity } from "apportion";
import type { RefObject } from "preact";

import type { Result } from "./protocol";
import { type PodRow, capacityText, claimsWithoutPod, deviceName, podRows, summary, usage } from "./rows";
import * as words from "./words";

type Reveal = (place: Place) => void;

interface Props {
  heading: RefObject<HTMLHeadingElement | null>;
  busy: boolean;
  result: Result | undefined;
  failure: string | undefined;
  onReveal: Reveal;
}

export function ResultPane({ heading, busy, result, failure, onReveal }: Props) {
  return (
    <>
      <div class="head">
        <h2 id="result" tabIndex={-1} ref={heading}>
          {words.RESULT}
        </h2>
        <p class="muted" role="status">
          {result !== undefined && failure === undefined && summary(result)}
        </p>
        {busy && <p class="busy">{words.WORKING}</p>}
      </div>
      {/* What scrolls must be reachable by keyboard. */}
      <div class="scroll" tabIndex={0} role="group" aria-labelledby="result">
        {failure !== undefined && <FailureBox message={failure} />}
        {result !== undefined && <Answer result={result} onReveal={onReveal} />}
      </div>
    </>
  );
}

function FailureBox({ message }: { message: string }) {
  return (
    <div class="notice error" role="alert">
      <p>
        <strong>{words.FAILED}:</strong> {message}
      </p>
      <p>{words.FAILED_HELP}</p>
    </div>
  );
}

function Answer({ result, onReveal }: { result: Result; onReveal: Reveal }) {
  const rows = podRows(result);
  const notes = result.findings.filter(({ severity }) => severity === "info");
  const problems = result.findings.filter(({ severity }) => severity !== "info");
  return (
    <>
      <Findings title={words.FINDINGS} findings={problems} onReveal={onReveal} />
      {rows.length === 0 ? <p class="notice">{words.NOTHING}</p> : <Pods rows={rows} onReveal={onReveal} />}
      <LooseClaims result={result} />
      <Nodes result={result} />
      <Findings title={words.NOTES} findings={notes} onReveal={onReveal} />
    </>
  );
}

function Pods({ rows, onReveal }: { rows: PodRow[]; onReveal: Reveal }) {
  return (
    <table id="pods">
      <caption>Pods</caption>
      <thead>
        <tr>
          <th scope="col">Pod</th>
          <th scope="col">Node</th>
          <th scope="col">Claim</th>
          <th scope="col">Request</th>
          <th scope="col">Device</th>
        </tr>
      </thead>
      {rows.map((row) => (
        <PodBody key={row.key} row={row} onReveal={onReveal} />
      ))}
    </table>
  );
}

/** One Pod: a line per device; the Pod's own cells span them all, and so do the claims' over their devices. */
function PodBody({ row, onReveal }: { row: PodRow; onReveal: Reveal }) {
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
                <LineLink place={row.place} text={row.name} onReveal={onReveal} />
                <small>{row.namespace}</small>
                {row.owner !== undefined && <small>{row.owner}</small>}
              </th>
            )}
            {line === 0 && (
              <td rowSpan={height} class="short">{row.node === undefined ? <span class="badge pending">Pending</span> : row.node}</td>
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
            <FindingList findings={row.reasons} onReveal={onReveal} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

function DeviceCells({ device, node }: { device: AllocatedDevice | undefined; node: string | undefined }) {
  if (device === undefined) {
    return <td colSpan={2} class="muted">no device</td>;
  }
  const capacity = capacityText(device);
  return (
    <>
      <td class="short">{device.request}</td>
      <td class="short">
        {deviceName(device, node)} <span class="muted">{device.driver}</span>
        {device.adminAccess && <small>admin access</small>}
        {capacity !== "" && <small>{capacity}</small>}
      </td>
    </>
  );
}

function LooseClaims({ result }: { result: Result }) {
  const claims = claimsWithoutPod(result);
  if (claims.length === 0) return null;
  return (
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
        {claims.map((claim) => (
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
  );
}

function Nodes({ result }: { result: Result }) {
  if (result.report.nodes.length === 0) return null;
  return (
    <table>
      <caption>Nodes</caption>
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col">Devices in use</th>
          <th scope="col">Pods</th>
        </tr>
      </thead>
      <tbody>
        {result.report.nodes.map((node) => (
          <tr key={node.name}>
            <th scope="row">
              {node.name}
              {node.inferred && <small>inferred</small>}
            </th>
            <td class="number">{usage(node)}</td>
            <td>{node.pods.join(", ")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Findings({ title, findings, onReveal }: { title: string; findings: PlacedFinding[]; onReveal: Reveal }) {
  if (findings.length === 0) return null;
  return (
    <section class="findings" aria-label={title}>
      <h3>{title}</h3>
      <FindingList findings={findings} onReveal={onReveal} />
    </section>
  );
}

const MARKS: Record<Severity, string> = { error: "✕", warning: "▲", info: "○" };

function FindingList({ findings, onReveal }: { findings: PlacedFinding[]; onReveal: Reveal }) {
  return (
    <ul>
      {findings.map((finding) => (
        <li class={finding.severity}>
          <span class="mark">
            <span aria-hidden="true">{MARKS[finding.severity]}</span> {finding.severity}
          </span>
          <div>
            <p>
              <Ticked text={finding.message} />{" "}
              {finding.place !== undefined && (
                <LineLink place={finding.place} text={`line ${finding.place.line}`} onReveal={onReveal} />
              )}{" "}
              <span class="muted code">{finding.code}</span>
            </p>
            {finding.hint !== undefined && (
              <p class="muted">
                <Ticked text={finding.hint} />
              </p>
            )}
            {finding.place === undefined && finding.object !== undefined && (
              <p class="muted code">
                {finding.object.kind} {objectName(finding.object)} {finding.path}
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function objectName({ namespace, name }: { namespace: string; name: string }): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Text with the words between backticks set as code. */
function Ticked({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}

function LineLink({ place, text, onReveal }: { place: Place | undefined; text: string; onReveal: Reveal }) {
  if (place === undefined) return <>{text}</>;
  return (
    <button type="button" class="link" title={`line ${place.line}`} onClick={() => onReveal(place)}>
      {text}
    </button>
  );
}
