// A change of the text, shown before it is made.

import { useMemo } from "preact/hooks";

import { joined } from "../files";
import type { WindowProps } from "../header";
import { diffLines } from "../model/diff";
import { usePage } from "../page";
import { Dialog, Ticked } from "../parts";
import * as words from "../views/words";

/** More lines are not read by anybody. */
const MOST_LINES = 400;

const SIGNS = { same: " ", gone: "−", new: "+", gap: "⋯" } as const;

export function Proposal({ onClose }: WindowProps) {
  const { state, act } = usePage();
  const { proposal } = state;
  const before = useMemo(() => joined(state.files), [proposal]);
  const lines = useMemo(() => (proposal === undefined ? [] : diffLines(before, proposal.text)), [proposal]);
  if (proposal === undefined) return null;
  return (
    <Dialog title={words.PROPOSAL} onClose={onClose}>
      <p>
        <Ticked text={proposal.title} />
      </p>
      <div class="diff" role="group" aria-label={words.DIFFERENCE} tabIndex={0}>
        {lines.slice(0, MOST_LINES).map(({ kind, text }) => (
          <div class={kind}>
            <span aria-hidden="true">{SIGNS[kind]} </span>
            {kind === "gone" || kind === "new" ? <span class="hidden">{words.DIFF_KINDS[kind]}</span> : null}
            {text}
          </div>
        ))}
        {lines.length > MOST_LINES && <div class="muted">{words.moreLines(lines.length - MOST_LINES)}</div>}
      </div>
      <p class="row">
        <button type="button" class="main" onClick={() => act.decide(true)}>
          {words.MAKE_CHANGE}
        </button>
        <button type="button" onClick={() => act.decide(false)}>
          {words.LEAVE_TEXT}
        </button>
      </p>
    </Dialog>
  );
}
