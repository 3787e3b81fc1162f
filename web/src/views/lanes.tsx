// Lanes in time: what each group, Pod and claim was in, and when.

import { useRef, useState } from "preact/hooks";

import { type Lane, clock, ticks } from "../model/life";
import { fitted } from "../picture/layout";
import { useWidth } from "../picture/picture";
import type { Life } from "../protocol";
import * as words from "./words";

const ROW = 18;
const TOP = 22;
/** The room of the names: at most so many pixels, and this share of a narrow screen. */
const NAMES = 220;
const SHARE = 0.42;
const CHARACTER = 6.05;

/** So many lanes are drawn at first, and more each time. */
const SOME = 40;

interface Props {
  lanes: readonly Lane[];
  endMillis: number;
  now: number;
  steps: Life["steps"];
  onMove: (at: number) => void;
}

export function Lanes({ lanes, endMillis, now, steps, onMove }: Props) {
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const [isWhole, setIsWhole] = useState(false);
  const [most, setMost] = useState(SOME);
  // Most lives are over long before the watching is.
  const busy = Math.max(60_000, ...lanes.flatMap(({ spans }) => spans.flatMap(({ from, to }) => (to < endMillis ? [from, to] : [from]))), ...steps.map(({ atMillis }) => atMillis));
  const end = isWhole ? endMillis : Math.min(endMillis, busy * 1.15);
  const shown = lanes.slice(0, most);
  const height = TOP + shown.length * ROW + 4;
  const names = Math.min(NAMES, width * SHARE);
  const x = (millis: number) => names + (Math.min(millis, end) / end) * (width - names - 4);
  const go = ({ clientX }: MouseEvent) => {
    const left = frame.current?.getBoundingClientRect().left;
    if (left === undefined) return;
    const at = (clientX - left - names) / (width - names - 4);
    if (at >= 0) onMove(at * end);
  };
  return (
    <figure class="lanes" ref={frame}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words.LANES} onClick={go}>
        {ticks(end).map((millis) => (
          <g>
            <line class="tick" x1={x(millis)} x2={x(millis)} y1={0} y2={height} />
            <text class="label" x={x(millis) + 3} y={9}>
              {clock(millis)}
            </text>
          </g>
        ))}
        {shown.map(({ name, spans }, row) => (
          <g>
            <text class="owner" x={0} y={TOP + row * ROW + 12}>
              {fitted(name, names - 8, CHARACTER, true)}
            </text>
            {spans.map(({ from, to, state }) => {
              const room = Math.max(1.5, x(to) - x(from) - 1);
              return (
                <g class={`span ${kindOf(state)}`}>
                  <title>{`${name}: ${state}, ${clock(from)} to ${clock(to)}`}</title>
                  <rect x={x(from)} y={TOP + row * ROW + 1} width={room} height={ROW - 4} rx="2" />
                  <text x={x(from) + 4} y={TOP + row * ROW + 11}>
                    {fitted(state, room - 6, CHARACTER)}
                  </text>
                </g>
              );
            })}
          </g>
        ))}
        {steps.map(({ atMillis, says }) => (
          <path class="deed" d={`M${x(atMillis)} 13 l-4 7 l8 0 z`}>
            <title>{`${clock(atMillis)} ${says}`}</title>
          </path>
        ))}
        <line class="now" x1={x(now)} x2={x(now)} y1={12} y2={height} />
      </svg>
      <figcaption class="row muted">
        {lanes.length > most && (
          <button type="button" class="link" onClick={() => setMost(most + SOME)}>
            {words.more(Math.min(SOME, lanes.length - most))}
          </button>
        )}
        <span>{words.LANES_SAY}</span>
        {end < endMillis || isWhole ? (
          <button type="button" class="link" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? words.BUSY_PART : words.WHOLE_TIME}
          </button>
        ) : null}
      </figcaption>
    </figure>
  );
}

function kindOf(state: string): string {
  if (state === "Pending" || state === "not allocated" || state === "deleting") return "waiting";
  if (state === "there" || state === "released") return "idle";
  return "good";
}
