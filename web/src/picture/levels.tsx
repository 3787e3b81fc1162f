// Every node as a square that says how much of it is in use: as a picture of its own, and as a map beside the devices.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Model, nodesOf, tilesOf } from "../model/model";
import * as words from "../words";
import { type Anchor, scrollTo } from "./gestures";

/** One square of the heat map. */
export interface Cell {
  name: string;
  used: number;
  all: number;
  isNoted: boolean;
}

export function cellsOf(model: Pick<Model, "groups">): Cell[] {
  return nodesOf(model).map((group) => {
    const tiles = tilesOf({ groups: [group] });
    const used = tiles.filter(({ holders }) => holders.some(({ isAdmin }) => !isAdmin)).length;
    return { name: group.title, used, all: tiles.length, isNoted: group.note !== "" };
  });
}

/** From 0, all free, to 4, all in use. */
export function heat({ used, all }: Pick<Cell, "used" | "all">): number {
  return all === 0 || used === 0 ? 0 : used === all ? 4 : Math.min(3, 1 + Math.floor((used / all) * 3));
}

/** The side of a square with its gap, in CSS pixels. */
export const SQUARE = 18;
const SMALL = 8;
const STEP = { ArrowRight: 1, ArrowLeft: -1 } as const;

/** Where a square stands, and how it looks. */
export function squareOf(cell: Cell, index: number, columns: number, size = SQUARE) {
  return {
    class: `cell heat${heat(cell)}${cell.isNoted ? " noted" : ""}`, rx: size / 9,
    x: (index % columns) * size + 1, y: Math.floor(index / columns) * size + 1, width: size - 2, height: size - 2,
  };
}

/** The squares from all free to all in use. */
export function Scale({ x = 0, y = 0 }: { x?: number; y?: number }) {
  return (
    <>
      {[0, 1, 2, 3, 4].map((level) => (
        <rect class={`cell heat${level}`} x={x + level * SQUARE + 1} y={y + 1} width={SQUARE - 2} height={SQUARE - 2} rx="2" />
      ))}
    </>
  );
}

/** Every node as a square; one of them leads to its devices. */
export function HeatMap({ model, onNode, anchor }: { model: Model; onNode: (name: string) => void; anchor: { current: Anchor | undefined } }) {
  const frame = useRef<HTMLDivElement>(null);
  const cells = useMemo(() => cellsOf(model), [model]);
  const columns = useColumns(frame, SQUARE);
  const [reachable, setReachable] = useState(0);
  useLayoutEffect(() => {
    const [wish, element] = [anchor.current, frame.current];
    const index = cells.findIndex(({ name }) => name === wish?.node);
    if (wish === undefined || index === -1 || element === null) return;
    scrollTo(element, (Math.floor(index / columns) + 0.5) * SQUARE, wish.y);
    setReachable(index);
    requestAnimationFrame(() => (anchor.current = undefined));
  }, [cells, columns]);
  const onKeyDown = (event: KeyboardEvent) => {
    const index = Number((event.target as Element).getAttribute("data-index"));
    const step = event.key === "ArrowDown" ? columns : event.key === "ArrowUp" ? -columns : STEP[event.key as keyof typeof STEP];
    const cell = cells[index];
    if (event.key === "Enter" || event.key === " ") cell !== undefined && onNode(cell.name);
    else if (step !== undefined && cells[index + step] !== undefined) {
      setReachable(index + step);
      frame.current?.querySelector<SVGElement>(`[data-index="${index + step}"]`)?.focus();
    } else return;
    event.preventDefault();
  };
  const at = Math.min(reachable, cells.length - 1);
  const squares = useMemo(() => cells.map((cell, index) => (
    <rect
      key={cell.name}
      {...squareOf(cell, index, columns)}
      role="button"
      data-index={index}
      data-node={cell.name}
      tabindex={index === at ? 0 : -1}
      aria-label={words.cell(cell)}
      onClick={() => onNode(cell.name)}
    >
      <title>{words.cell(cell)}</title>
    </rect>
  )), [cells, columns, at]);
  return (
    <div class="picture heatmap" ref={frame} role="group" aria-label={words.HEAT_MAP} onKeyDown={onKeyDown}>
      <svg
        width={columns * SQUARE}
        height={Math.ceil(cells.length / columns) * SQUARE}
        viewBox={`0 0 ${columns * SQUARE} ${Math.ceil(cells.length / columns) * SQUARE}`}
        role="presentation"
      >
        {squares}
      </svg>
      <p class="scale muted" aria-hidden="true">
        {words.FREE}{" "}
        <svg width={5 * SQUARE} height={SQUARE}>
          <Scale />
        </svg>{" "}
        {words.IN_USE}
      </p>
    </div>
  );
}

/** More nodes than this have no map beside their devices: it would take the room of the devices. */
const MOST_MAPPED = 3_000;

/** A small heat map that stays in sight, with the nodes marked whose devices are in sight; one of them leads there. */
export function MiniMap({ model, node, onNode }: { model: Model; node: string | undefined; onNode: (name: string) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const cells = useMemo(() => cellsOf(model), [model]);
  const columns = useColumns(frame, SMALL);
  const inSight = useInSight(frame, node);
  const squares = useMemo(() => cells.map((cell, index) => (
    <rect key={cell.name} {...squareOf(cell, index, columns, SMALL)} onClick={() => onNode(cell.name)}>
      <title>{words.cell(cell)}</title>
    </rect>
  )), [cells, columns]);
  if (cells.length > MOST_MAPPED) return null;
  const marks = cells.flatMap(({ name }, index) => (inSight.has(name) ? [index] : []));
  return (
    // For the pointer; by keys a node is chosen from the list above.
    <div class="minimap" ref={frame} aria-hidden="true">
      <svg width={columns * SMALL} height={Math.ceil(cells.length / columns) * SMALL}>
        {squares}
        {marks.map((index) => (
          <rect class="mark" x={(index % columns) * SMALL + 0.5} y={Math.floor(index / columns) * SMALL + 0.5} width={SMALL - 1} height={SMALL - 1} />
        ))}
      </svg>
    </div>
  );
}

/** Names of the nodes whose frames are in the window. */
function useInSight(map: { current: HTMLElement | null }, node: string | undefined): ReadonlySet<string> {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    let isDue = false;
    const look = () => {
      isDue = false;
      const picture = map.current?.parentElement?.querySelector(".picture");
      const top = map.current?.getBoundingClientRect().bottom ?? 0;
      const found = [...(picture?.querySelectorAll<SVGElement>(".frame.node") ?? [])].flatMap((frame) => {
        const { top: start, bottom: end } = frame.getBoundingClientRect();
        return start < window.innerHeight && end > top ? [frame.dataset.node ?? ""] : [];
      });
      setNames((before) => (before.join("\n") === found.join("\n") ? before : found));
    };
    const later = () => {
      // After the frames of the new place are drawn.
      if (!isDue) requestAnimationFrame(() => requestAnimationFrame(look));
      isDue = true;
    };
    later();
    document.addEventListener("scroll", later, { capture: true, passive: true });
    return () => document.removeEventListener("scroll", later, { capture: true });
  }, [node]);
  return useMemo(() => new Set(names), [names]);
}

/** How many squares stand beside each other in an element. */
function useColumns(element: { current: HTMLElement | null }, size: number): number {
  const [columns, setColumns] = useState(30);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setColumns(Math.max(1, Math.floor(current.clientWidth / size)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return columns;
}
