// What comes out otherwise: Pods and claims before and after, in words.

import type { ClaimDifference, Difference, PodDifference } from "apportion";
import { Fragment } from "preact";

import { FindingList, Ticked, useSome } from "../parts";
import * as words from "./words";

export function Differences({ difference }: { difference: Difference }) {
  const { pods, claims, evictions = [], findings = [], nodesAdded, nodesRemoved } = difference;
  const isSame = [pods, claims, evictions, nodesAdded, nodesRemoved].every(({ length }) => length === 0);
  return (
    <>
      {findings.length > 0 && (
        <section class="findings">
          <FindingList findings={findings} />
        </section>
      )}
      {isSame && <p class="notice">{words.SAME}</p>}
      <Pods pods={pods} />
      <Claims claims={claims} />
      {evictions.length > 0 && (
        <>
          <h3>{words.EVICTED}</h3>
          <ul class="dots">
            {evictions.map((eviction) => (
              <li>{words.evicted(eviction)}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Pods({ pods }: { pods: readonly PodDifference[] }) {
  const { shown, more } = useSome(pods);
  if (pods.length === 0) return null;
  return (
    <>
      <table class="places">
        <caption>Pods</caption>
        <Head />
        <tbody>
          {shown.map(({ pod, before, after, why }) => (
            <Fragment key={pod}>
              <tr>
                <th scope="row">{pod}</th>
                <td class="muted">{words.placeOf(before)}</td>
                <td>{words.placeOf(after)}</td>
              </tr>
              {why !== undefined && (
                <tr class="reasons">
                  <td colSpan={3}>
                    <Ticked text={why} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

function Claims({ claims }: { claims: readonly ClaimDifference[] }) {
  const { shown, more } = useSome(claims);
  if (claims.length === 0) return null;
  return (
    <>
      <table>
        <caption>{words.CLAIM}s</caption>
        <Head />
        <tbody>
          {shown.map(({ claim, before, after }) => (
            <tr>
              <th scope="row">{claim}</th>
              <td class="muted">{words.devicesOf(before)}</td>
              <td>{words.devicesOf(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

function Head() {
  return (
    <thead>
      <tr>
        {[words.WHAT, words.BEFORE, words.AFTER].map((name) => (
          <th scope="col">{name}</th>
        ))}
      </tr>
    </thead>
  );
}
