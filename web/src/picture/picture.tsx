// The picture on the page: what is in view is drawn, keys move from device to device.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Model } from "../model/model";
import * as words from "../words";
import { BoxShape, TileShape } from "./boxes";
import { type Anchor, scrollTo } from "./gestures";
import { type Detail, type TileBox, layout, neighbour, visible } from "./layout";

/** What is drawn above and below of what is in view, and the step in which that is renewed; CSS pixels. */
const MARGIN = 600;
const STEP = 200;

/** A node that is higher is scrolled to its upper part. */
const NEAR = 300;

const DIRECTIONS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const;

interface Props {
  model: Model;
  isPicked: (key: string, claims: readonly string[]) => boolean;
  onPick: (key: string) => void;
  /** Where nodes can be picked, too. */
  onNode?: (name: string) => void;
  pickedNode?: string | undefined;
  detail?: Detail;
  /** The node that is to stay in its place while the level changes. */
  anchor?: { current: Anchor | undefined };
}

export function Picture({ model, isPicked, onPick, onNode, pickedNode, detail = "devices", anchor }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const placed = useMemo(() => layout(model, width, detail), [model, width, detail]);
  const tiles = useMemo(() => placed.boxes.filter((box): box is TileBox => box.kind === "tile"), [placed]);
  useLayoutEffect(() => {
    const [wish, element] = [anchor?.current, frame.current];
    const box = wish && placed.boxes.find((box) => box.kind === "frame" && box.isNode && box.title === wish.node);
    if (anchor === undefined || wish === undefined || box === undefined || element === null) return;
    scrollTo(element, box.y + Math.min(box.height, NEAR) / 2, wish.y);
    // The width may be measured anew until then.
    requestAnimationFrame(() => (anchor.current = undefined));
  }, [placed]);
  const [top, bottom] = useRange(frame, placed.height);
  const [reachable, setReachable] = useState<string>();

  const inView = useMemo(() => visible(placed.boxes, top, bottom), [placed, top, bottom]);
  const current = tiles.find(({ tile }) => tile.key === reachable) ?? tiles[0];
  // The tile with the focus stays, wherever one scrolls to.
  const drawn = current === undefined || inView.includes(current) ? inView : [...inView, current];

  const move = (to: TileBox) => {
    setReachable(to.tile.key);
    requestAnimationFrame(() => {
      const tile = frame.current?.querySelector<SVGElement>(`[data-key="${CSS.escape(to.tile.key)}"]`);
      tile?.focus();
      tile?.scrollIntoView({ block: "nearest" });
    });
  };
  const keyOf = (target: EventTarget | null) =>
    target instanceof Element ? target.closest<SVGElement>("[data-key]")?.dataset.key : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const from = tiles.find(({ tile }) => tile.key === keyOf(event.target));
    if (from === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") onPick(from.tile.key);
    else if (event.key === "Home" && tiles[0] !== undefined) move(tiles[0]);
    else if (event.key === "End" && tiles.at(-1) !== undefined) move(tiles.at(-1) as TileBox);
    else if (Object.hasOwn(DIRECTIONS, event.key)) move(neighbour(tiles, from, DIRECTIONS[event.key as keyof typeof DIRECTIONS]));
    else return;
    event.preventDefault();
  };
  const onClick = ({ target }: MouseEvent) => {
    const key = keyOf(target);
    const node = key === undefined && target instanceof Element ? target.closest<SVGElement>("[data-node]")?.dataset.node : undefined;
    if (node !== undefined) return onNode?.(node);
    if (key === undefined) return;
    setReachable(key);
    onPick(key);
    // What opens below may cover it.
    const tile = target instanceof Element ? target.closest("[data-key]") : null;
    requestAnimationFrame(() => requestAnimationFrame(() => tile?.scrollIntoView({ block: "nearest" })));
  };

  return (
    <div class={onNode === undefined ? "picture" : "picture pickable"} ref={frame} role="group" aria-label={words.PICTURE} onClick={onClick} onKeyDown={onKeyDown}>
      <svg width={placed.width} height={placed.height} viewBox={`0 0 ${placed.width} ${placed.height}`} role="presentation">
        {drawn.map((box) =>
          box.kind === "tile" ? (
            <TileShape
              key={box.tile.key}
              box={box}
              isPicked={isPicked(box.tile.key, box.tile.holders.map(({ claim }) => claim))}
              isReachable={box === current}
            />
          ) : (
            <BoxShape key={`${box.kind} ${box.x} ${box.y}`} box={box} isPicked={box.kind === "frame" && box.isNode && box.title === pickedNode} />
          ),
        )}
      </svg>
    </div>
  );
}

/** The width of an element as it is now. */
export function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setWidth(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The part of an element that is near the window, in steps, so that not every scrolled pixel draws anew. */
function useRange(element: { current: HTMLElement | null }, height: number): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 1200]);
  const again = useRef<(() => void) | undefined>(undefined);
  // What stands above may have become higher or lower.
  useLayoutEffect(() => again.current?.());
  useLayoutEffect(() => {
    let isDue = false;
    let isOnPaper = false;
    const measure = () => {
      isDue = false;
      if (isOnPaper) return setRange((before) => (before[1] === Infinity ? before : [-Infinity, Infinity]));
      const top = -(element.current?.getBoundingClientRect().top ?? 0);
      const first = Math.floor((top - MARGIN) / STEP) * STEP;
      const last = Math.ceil((top + window.innerHeight + MARGIN) / STEP) * STEP;
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
    };
    const later = () => {
      if (!isDue) requestAnimationFrame(measure);
      isDue = true;
    };
    // A printed page shows everything.
    const paper = window.matchMedia("print");
    const onPaper = ({ type }: Event) => {
      isOnPaper = type === "beforeprint" || (type === "change" && paper.matches);
      measure();
    };
    measure();
    again.current = measure;
    paper.addEventListener("change", onPaper);
    for (const name of ["beforeprint", "afterprint"]) window.addEventListener(name, onPaper);
    // Whatever scrolls, it moves the picture: the pane on wide screens, the page on narrow ones.
    document.addEventListener("scroll", later, { capture: true, passive: true });
    window.addEventListener("resize", later);
    return () => {
      paper.removeEventListener("change", onPaper);
      for (const name of ["beforeprint", "afterprint"]) window.removeEventListener(name, onPaper);
      document.removeEventListener("scroll", later, { capture: true });
      window.removeEventListener("resize", later);
    };
  }, [height]);
  return range;
}
