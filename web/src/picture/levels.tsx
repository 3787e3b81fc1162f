// How much of the cluster is seen at a time: all nodes as a heat map, or the devices of some of them.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Model, nodesOf, tilesOf } from "../model/model";
import * as words from "../words";

/** More devices than this are first shown as a heat map. */
export const MANY_DEVICES = 400;

export type Level = "cluster" | "devices";

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

const SQUARE = 18;
const STEP = { ArrowRight: 1, ArrowLeft: -1 } as const;

/** Every node as a square; one of them leads to its devices. */
export function HeatMap({ model, onNode }: { model: Model; onNode: (name: string) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const cells = useMemo(() => cellsOf(model), [model]);
  const [columns, setColumns] = useState(30);
  const [reachable, setReachable] = useState(0);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const measure = () => setColumns(Math.max(1, Math.floor(current.clientWidth / SQUARE)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
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
  return (
    <div class="picture heatmap" ref={frame} role="group" aria-label={words.HEAT_MAP} onKeyDown={onKeyDown}>
      <svg width={columns * SQUARE} height={Math.ceil(cells.length / columns) * SQUARE} role="presentation">
        {cells.map((cell, index) => (
          <rect
            key={cell.name}
            class={`cell heat${heat(cell)}${cell.isNoted ? " noted" : ""}`}
            role="button"
            data-index={index}
            tabindex={index === at ? 0 : -1}
            aria-label={words.cell(cell)}
            x={(index % columns) * SQUARE + 1}
            y={Math.floor(index / columns) * SQUARE + 1}
            width={SQUARE - 2}
            height={SQUARE - 2}
            rx="2"
            onClick={() => onNode(cell.name)}
          >
            <title>{words.cell(cell)}</title>
          </rect>
        ))}
      </svg>
      <p class="scale muted" aria-hidden="true">
        {words.FREE}{" "}
        <svg width={5 * SQUARE} height={SQUARE}>
          {[0, 1, 2, 3, 4].map((level) => (
            <rect class={`cell heat${level}`} x={level * SQUARE + 1} y="1" width={SQUARE - 2} height={SQUARE - 2} rx="2" />
          ))}
        </svg>{" "}
        {words.IN_USE}
      </p>
    </div>
  );
}
