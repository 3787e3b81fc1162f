// The boxes of the picture as SVG.

import type { ComponentChildren } from "preact";

import type { Fill, Tile } from "../model/model";
import * as words from "../words";
import { type Box, NAME_CHARACTER, type TileBox, barsOf, fitted } from "./layout";

/** Width of a character of the picture's fonts, in CSS pixels. */
const CHARACTER = { normal: NAME_CHARACTER, small: 6.05 };

export function BoxShape({ box, isPicked = false }: { box: Exclude<Box, TileBox>; isPicked?: boolean }) {
  switch (box.kind) {
    case "frame":
      return <Frame box={box} isPicked={isPicked} />;
    case "label":
      return (
        <text class={box.isWarning ? "label warning" : "label"} x={box.x} y={box.y + 12}>
          {fitted(box.text, box.width, CHARACTER.small)}
        </text>
      );
    case "gauge":
      return <Gauge x={box.x} y={box.y} width={box.width} fill={box.fill} />;
    case "cells":
      return <Cells box={box} />;
    default:
      return box satisfies never;
  }
}

function Frame({ box, isPicked }: { box: Extract<Box, { kind: "frame" }>; isPicked: boolean }) {
  const usageWidth = box.usage.length * CHARACTER.small;
  return (
    <g class={`frame ${box.isNode ? "node" : "shared"}${isPicked ? " picked" : ""}`} data-node={box.isNode ? box.title : undefined}>
      <rect x={box.x + 0.5} y={box.y + 0.5} width={box.width - 1} height={box.height - 1} rx="4" />
      <text class="title" x={box.x + 8} y={box.y + 17}>
        {fitted(box.title, box.width - usageWidth - 24, CHARACTER.normal + 0.5)}
      </text>
      <text class="label" x={box.x + box.width - 8} y={box.y + 17} text-anchor="end">
        {box.usage}
      </text>
      {box.note !== "" && (
        <text class="label" x={box.x + 8} y={box.y + 32}>
          {fitted(box.note, box.width - 16, CHARACTER.small)}
        </text>
      )}
    </g>
  );
}

/** A name with its amounts on the left, a bar on the right. */
function Gauge({ x, y, width, fill }: { x: number; y: number; width: number; fill: Fill }) {
  const left = Math.min(210, width * 0.6);
  return (
    <g>
      <text class="label" x={x} y={y + 10}>
        {fitted(words.fill(fill), left - 6, CHARACTER.small)}
      </text>
      <Bar x={x + left} y={y + 3} width={width - left} height={7} fill={fill} />
    </g>
  );
}

/** What is used, in the colours of those who use it. */
function Bar({ x, y, width, height, fill }: { x: number; y: number; width: number; height: number; fill: Fill }) {
  let at = x;
  return (
    <g>
      <rect class="bar" x={x} y={y} width={width} height={height} />
      {fill.parts.map(({ share, colour }) => {
        const part = Math.min(share * width, x + width - at);
        const start = at;
        at += part;
        return <rect class={`part c${colour}`} x={start} y={y} width={Math.max(part, 1)} height={height} />;
      })}
    </g>
  );
}

/** Counters of one each, side by side: taken or not. */
function Cells({ box }: { box: Extract<Box, { kind: "cells" }> }) {
  const left = Math.min(210, box.width * 0.6);
  const used = box.fills.filter(({ parts }) => parts.length > 0).length;
  const each = (box.width - left) / box.fills.length;
  return (
    <g>
      <text class="label" x={box.x} y={box.y + 10}>
        {fitted(words.cells(box.fills[0]?.name ?? "", used, box.fills.length), left - 6, CHARACTER.small)}
      </text>
      {box.fills.map(({ parts }, index) => (
        <rect
          class={parts[0] === undefined ? "bar" : `part c${parts[0].colour}`}
          x={box.x + left + index * each}
          y={box.y + 3}
          width={Math.max(1, each - 2)}
          height={7}
        />
      ))}
    </g>
  );
}

interface TileProps {
  box: TileBox;
  isPicked: boolean;
  isReachable: boolean;
  children?: ComponentChildren;
}

/** One device. What is said by colour is said by a word or a sign, too. */
export function TileShape({ box, isPicked, isReachable }: TileProps) {
  const { tile, x, y, width, height } = box;
  const marks = words.marks(tile);
  const owners = tile.holders.filter(({ isAdmin }) => !isAdmin);
  const colour = owners.length === 1 ? ` c${owners[0]?.colour ?? 0}` : owners.length > 1 ? " several" : "";
  const classes = ["tile", owners.length === 0 ? "free" : "held", tile.hindrance === undefined ? "" : "hindered", tile.device.taints.length > 0 ? "tainted" : "", isPicked ? "picked" : ""];
  const bars = barsOf(tile);
  const nameRoom = width - 12 - marks.length * 12;
  return (
    <g
      role="button"
      class={classes.join(" ") + colour}
      data-key={tile.key}
      tabindex={isReachable ? 0 : -1}
      aria-pressed={isPicked}
    >
      {/* The name for those who do not see the tile, and more for those who point at it. */}
      <title>{words.tile(tile)}</title>
      <rect class="body" x={x + 0.5} y={y + 0.5} width={width - 1} height={height - 1} rx="3" />
      <text class="name" x={x + 6} y={y + 14}>
        {fitted(tile.device.name, nameRoom, CHARACTER.normal, true)}
      </text>
      {marks.map(({ sign }, index) => (
        <text class="sign" x={x + width - 6 - index * 12} y={y + 14} text-anchor="end">
          {sign}
        </text>
      ))}
      <text class="owner" x={x + 6} y={y + 28}>
        {fitted(words.owner(tile), width - 12, CHARACTER.small)}
      </text>
      {bars.map((fill, index) => (
        <Bar x={x + 6} y={y + 35 + index * 9} width={width - 12} height={6} fill={fill} />
      ))}
      {tile.draws > 0 && <Draws tile={tile} x={x + 6} y={y + 35 + bars.length * 9} width={width - 12} />}
    </g>
  );
}

/** How large a part of its counters a partition is. */
function Draws({ tile, x, y, width }: { tile: Tile; x: number; y: number; width: number }) {
  const isHeld = tile.holders.some(({ isAdmin }) => !isAdmin);
  return (
    <g>
      <rect class="bar" x={x} y={y} width={width} height={6} />
      <rect class={isHeld ? `part c${tile.holders[0]?.colour ?? 0}` : "part open"} x={x} y={y} width={Math.max(2, width * tile.draws)} height={6} />
    </g>
  );
}
