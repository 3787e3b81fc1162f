// Where everything of the picture goes: a pure function of the model and the width. Units are CSS pixels.

import type { Fill, Group, Model, PoolView, SetView, Tile } from "../model/model";

interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Box = Rectangle &
  (
    | { kind: "frame"; title: string; note: string; usage: string; isNode: boolean; depth: number }
    | { kind: "label"; text: string; isWarning: boolean }
    | { kind: "gauge"; fill: Fill }
    | { kind: "cells"; fills: Fill[] }
    | { kind: "tile"; tile: Tile }
  );

export type TileBox = Extract<Box, { kind: "tile" }>;

export type Detail = "pools" | "devices";

export interface Layout {
  width: number;
  height: number;
  boxes: Box[];
}

const GAP = 10;
const PADDING = 8;
const HEADER = 26;
const NOTE = 15;
const LABEL = 18;
const GAUGE = 14;
const TILE = { width: 104, maxWidth: 170, height: 36, gap: 5, fill: 9, maxFills: 3 };
/** Width of a character of a device's name. */
export const NAME_CHARACTER = 6.65;
/** What a column of frames needs at least. */
const COLUMN = 2 * (TILE.width + PADDING) + TILE.gap;
/** Counters beyond these are counted, not drawn. */
const MAX_GAUGES = 6;
/** Frames deeper than this stand in one column. */
const MAX_DEPTH = 6;

/** Every device has a tile, unless it is the pools alone that are shown, each with how many of its devices are in use. */
export function layout({ groups }: Pick<Model, "groups">, width: number, detail: Detail = "devices"): Layout {
  const boxes: Box[] = [];
  const height = placeGroups(groups, { x: 0, y: 0, width: Math.max(width, TILE.width + 2 * PADDING) }, 0, boxes, detail);
  return { width, height, boxes };
}

/** What is at least partly between two heights. */
export function visible(boxes: readonly Box[], top: number, bottom: number): Box[] {
  return boxes.filter(({ y, height }) => y < bottom && y + height > top);
}

/** Frames in rows, each as wide as the others of its level, each row as high as its highest; returns the height. */
function placeGroups(groups: readonly Group[], at: { x: number; y: number; width: number }, depth: number, boxes: Box[], detail: Detail): number {
  if (groups.length === 0) return 0;
  // A frame around others takes the whole width, a node shares its row.
  const columns = depth > MAX_DEPTH ? 1 : Math.max(1, Math.min(columnsWanted(groups), Math.floor((at.width + GAP) / (COLUMN + GAP))));
  const width = (at.width - (columns - 1) * GAP) / columns;
  let y = at.y;
  let row: { column: number; height: number; frames: Rectangle[] } = { column: 0, height: 0, frames: [] };
  const endRow = () => {
    for (const frame of row.frames) frame.height = row.height;
    if (row.frames.length > 0) y += row.height + GAP;
    row = { column: 0, height: 0, frames: [] };
  };
  for (const group of groups) {
    const isWide = group.children.length > 0;
    if (isWide || row.column === columns) endRow();
    const span = isWide ? at.width : width;
    const frame = placeGroup(group, { x: at.x + row.column * (width + GAP), y, width: span }, depth, boxes, detail);
    row.frames.push(frame);
    row.height = Math.max(row.height, frame.height);
    row.column += 1;
    if (isWide) endRow();
  }
  endRow();
  return y - GAP - at.y;
}

/** No more columns than there are frames to fill them: one node alone takes the width that its devices need. */
function columnsWanted(groups: readonly Group[]): number {
  return Math.max(1, groups.filter(({ children }) => children.length === 0).length);
}

function placeGroup(group: Group, at: { x: number; y: number; width: number }, depth: number, boxes: Box[], detail: Detail): Rectangle {
  const frame: Box = {
    kind: "frame", ...at, height: 0, title: group.title, note: group.note, usage: usageOf(group), isNode: group.kind === "node", depth,
  };
  boxes.push(frame);
  const inner = { x: at.x + PADDING, width: at.width - 2 * PADDING };
  let y = at.y + HEADER + (group.note === "" ? 0 : NOTE);
  for (const pool of group.pools) y = placePool(pool, group, { ...inner, y }, boxes, detail);
  if (group.children.length > 0) {
    y += PADDING / 2;
    y += placeGroups(group.children, { ...inner, y }, depth + 1, boxes, detail);
  }
  frame.height = y + PADDING - at.y;
  return frame;
}

function placePool(pool: PoolView, group: Group, at: { x: number; y: number; width: number }, boxes: Box[], detail: Detail): number {
  let y = at.y;
  const name = pool.name === group.title ? pool.driver : `${pool.driver}, pool ${pool.name}`;
  boxes.push({ kind: "label", ...at, y, height: LABEL, text: pool.isIncomplete ? `${name}: slices are missing` : name, isWarning: pool.isIncomplete });
  y += LABEL;
  if (detail === "pools") {
    boxes.push({ kind: "gauge", ...at, y, height: GAUGE, fill: useOf(pool) });
    y += GAUGE;
  } else for (const set of pool.sets) y = placeSet(set, { ...at, y }, boxes);
  return y + 3;
}

function placeSet(set: SetView, at: { x: number; y: number; width: number }, boxes: Box[]): number {
  let y = at.y;
  if (set.name !== "") {
    boxes.push({ kind: "label", ...at, y, height: LABEL, text: `counters ${set.name}`, isWarning: false });
    y += LABEL - 2;
    const { rest, places } = gaugesOf(set);
    for (const fill of rest.slice(0, MAX_GAUGES)) {
      boxes.push({ kind: "gauge", ...at, y, height: GAUGE, fill });
      y += GAUGE;
    }
    for (const fills of places) {
      boxes.push({ kind: "cells", ...at, y, height: GAUGE, fills });
      y += GAUGE;
    }
    if (rest.length > MAX_GAUGES) {
      boxes.push({ kind: "label", ...at, y, height: LABEL, text: `and ${rest.length - MAX_GAUGES} more counters`, isWarning: false });
      y += LABEL;
    }
    y += 4;
  }
  const wanted = wantedWidth(set.tiles);
  const columns = Math.max(1, Math.floor((at.width + TILE.gap) / (wanted + TILE.gap)));
  const width = (at.width - (columns - 1) * TILE.gap) / columns;
  for (let first = 0; first < set.tiles.length; first += columns) {
    const row = set.tiles.slice(first, first + columns);
    const height = Math.max(...row.map(tileHeight));
    for (const [column, tile] of row.entries()) {
      boxes.push({ kind: "tile", x: at.x + column * (width + TILE.gap), y, width, height, tile });
    }
    y += height + TILE.gap;
  }
  return y;
}

/** Counters of one each that are numbered, `slice-0` to `slice-7`, are places side by side; all others are gauges. */
function gaugesOf({ gauges }: SetView): { rest: Fill[]; places: Fill[][] } {
  const stem = ({ name, total }: Fill) => (total === "1" ? name.replace(/[-_.]?\d+$/, "") : undefined);
  const places = new Map<string, Fill[]>();
  for (const fill of gauges) {
    const common = stem(fill);
    if (common !== undefined) places.set(common, [...(places.get(common) ?? []), fill]);
  }
  const several = [...places.values()].filter(({ length }) => length > 1);
  const rest = gauges.filter((fill) => fill.total !== "0" && !several.some((fills) => fills.includes(fill)));
  return { rest, places: several };
}

/** Tiles of long names are wider, up to a limit. */
function wantedWidth(tiles: readonly Tile[]): number {
  const longest = tiles.reduce((most, { device }) => Math.max(most, device.name.length), 0);
  return Math.max(TILE.width, Math.min(TILE.maxWidth, Math.ceil(longest * NAME_CHARACTER) + 14));
}

/** Bars that a tile shows: what it draws on counters, or what is used of its capacity. */
export function barsOf({ fills }: Tile): Fill[] {
  return fills.slice(0, TILE.maxFills);
}

function tileHeight(tile: Tile): number {
  const bars = barsOf(tile).length + (tile.draws > 0 ? 1 : 0);
  return TILE.height + (bars === 0 ? 0 : bars * TILE.fill + 2);
}

/** How many devices of a pool are in use, and by which workloads. */
function useOf({ sets }: PoolView): Fill {
  const tiles = sets.flatMap(({ tiles }) => tiles);
  const owners = tiles.flatMap(({ holders }) => holders.find(({ isAdmin }) => !isAdmin) ?? []);
  const parts = new Map<number, Fill["parts"][number]>();
  for (const { colour, claim } of owners) parts.set(colour, { colour, claim, share: (parts.get(colour)?.share ?? 0) + 1 / tiles.length });
  return { name: "devices", used: String(owners.length), total: String(tiles.length), parts: [...parts.values()] };
}

function usageOf(group: Group): string {
  let [taken, all] = [0, 0];
  for (const { sets } of group.pools) {
    for (const { tiles } of sets) {
      all += tiles.length;
      taken += tiles.filter(({ holders }) => holders.some(({ isAdmin }) => !isAdmin)).length;
    }
  }
  return all === 0 ? "no devices" : `${taken} of ${all} in use`;
}

/** The nearest tile in a direction; itself where there is none. */
export function neighbour(tiles: readonly TileBox[], from: TileBox, direction: "left" | "right" | "up" | "down"): TileBox {
  const isAcross = direction === "left" || direction === "right";
  const sign = direction === "left" || direction === "up" ? -1 : 1;
  const centre = ({ x, y, width, height }: Rectangle) => ({ x: x + width / 2, y: y + height / 2 });
  const here = centre(from);
  let best: { tile: TileBox; distance: number } | undefined;
  for (const tile of tiles) {
    const there = centre(tile);
    const along = (isAcross ? there.x - here.x : there.y - here.y) * sign;
    const aside = Math.abs(isAcross ? there.y - here.y : there.x - here.x);
    if (tile === from || along < 1 || (isAcross && aside > TILE.height)) continue;
    const distance = along + 3 * aside;
    if (best === undefined || distance < best.distance) best = { tile, distance };
  }
  return best?.tile ?? from;
}

/**
 * As much of a text as a width in CSS pixels holds, in a font whose characters are all `character` wide. What is numbered keeps its
 * end, where its number is.
 */
export function fitted(text: string, width: number, character: number, keepsEnd = false): string {
  const room = Math.floor(width / character);
  if (text.length <= room) return text;
  if (room <= 1) return "";
  const head = keepsEnd ? Math.floor((room - 1) / 3) : room - 1;
  return `${text.slice(0, head)}…${text.slice(text.length - (room - 1 - head))}`;
}
