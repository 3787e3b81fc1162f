// What comes out otherwise: Pods and claims before and after, in words.

import type { ClaimDifference, Difference, PodDifference } from "apportion";
import { Fragment } from "preact";
import { useMemo } from "preact/hooks";

import { byFate, fates } from "../model/difference";
import { compareNumbered } from "../model/order";
import { FindingList, Ticked, useSome } from "../parts";
import * as words from "./words";

/** `sides` names the columns where neither is a change of the other. */
export function Differences({ difference, sides = [words.BEFORE, words.AFTER] }: { difference: Difference; sides?: Sides }) {
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
      {pods.length > 0 && <p class="notice">{words.fates(fates(pods))}</p>}
      <Pods pods={pods} sides={sides} />
      <Claims claims={claims} sides={sides} />
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

type Sides = readonly [string, string];

function Pods({ pods, sides }: { pods: readonly PodDifference[]; sides: Sides }) {
  const { shown, more } = useSome(useMemo(() => byFate(pods), [pods]));
  if (pods.length === 0) return null;
  return (
    <>
      <table class="places">
        <caption>Pods</caption>
        <Head sides={sides} />
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

function Claims({ claims, sides }: { claims: readonly ClaimDifference[]; sides: Sides }) {
  const { shown, more } = useSome(useMemo(() => [...claims].sort((one, other) => compareNumbered(one.claim, other.claim)), [claims]));
  if (claims.length === 0) return null;
  return (
    <>
      <table>
        <caption>{words.CLAIM}s</caption>
        <Head sides={sides} />
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

function Head({ sides }: { sides: Sides }) {
  return (
    <thead>
      <tr>
        {[words.WHAT, ...sides].map((name) => (
          <th scope="col">{name}</th>
        ))}
      </tr>
    </thead>
  );
}
