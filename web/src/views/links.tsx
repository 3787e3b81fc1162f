// PodGroups and Pods with lines to their claims.

import { useMemo } from "preact/hooks";

import { type Links, linksOf, middle } from "../model/links";
import type { ClaimView, Model } from "../model/model";
import { useSome } from "../parts";
import { usePage } from "../page";
import * as words from "../words";

/** Height of an entry of the longer list, as in the style sheet; CSS pixels. */
const ROW = 32;
/** So many claims are shown at once without being asked for. */
const FEW = 12;
/** Width in which the lines are drawn, whatever room there is. */
const WIDTH = 100;

export function LinksSection({ model }: { model: Model }) {
  const used = useMemo(() => model.claims.filter(({ pods }) => pods.length > 0), [model]);
  const { shown, more } = useSome(used);
  const links = useMemo(() => linksOf(shown), [shown]);
  if (shown.length === 0) return null;
  return (
    <details class="uses" open={shown.length <= FEW}>
      <summary>{words.LINKS}</summary>
      <LinkedLists links={links} />
      {more}
    </details>
  );
}

function LinkedLists({ links: { users, claims, links } }: { links: Links }) {
  const { state: { picked } } = usePage();
  const height = Math.max(users.length, claims.length) * ROW;
  return (
    <div class="links">
      <ul aria-label={words.USERS} style={{ height: `${height}px` }}>
        {users.map((user) => (
          <li key={user.key}>
            <span>{words.user(user)}</span> <span class="muted">{words.userSize(user)}</span>
          </li>
        ))}
      </ul>
      {/* The lists say the same in words: a claim with those who use it. */}
      <svg viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" style={{ height: `${height}px` }} aria-hidden="true">
        {links.map((link) => {
          const claim = claims[link.claim];
          const isPicked = claim !== undefined && picked?.kind === "claim" && picked.key === claim.key;
          return <path class={lineClass(claim, isPicked)} d={curve(middle(link.user, users.length, height), middle(link.claim, claims.length, height))} />;
        })}
      </svg>
      <ul aria-label={words.USED_CLAIMS} style={{ height: `${height}px` }}>
        {claims.map((claim) => (
          <li key={claim.key}>
            <ClaimEntry claim={claim} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function ClaimEntry({ claim }: { claim: ClaimView }) {
  return (
    <span class={claim.devices.length === 0 ? "muted" : `chip c${claim.colour}`}>
      <span class="name">{claim.name}</span> <span class="users">{words.holds(claim)}</span>
      <span class="hidden">, {words.usedBy(claim)}</span>
    </span>
  );
}

function lineClass(claim: ClaimView | undefined, isPicked: boolean): string {
  const kind = claim === undefined || claim.devices.length === 0 ? "open" : `c${claim.colour}`;
  return isPicked ? `${kind} picked` : kind;
}

/** From the left edge to the right one, level at both. */
function curve(from: number, to: number): string {
  return `M 0 ${from} C ${WIDTH / 2} ${from} ${WIDTH / 2} ${to} ${WIDTH} ${to}`;
}
