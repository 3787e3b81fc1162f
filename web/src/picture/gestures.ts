// Wheel and two fingers as steps between levels, and the node at which they point.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Nearer, further, or neither. */
export type Step = 1 | -1 | 0;

/** Fingers come apart, or together, by this factor before there is another level. */
const FACTOR = 1.35;

/** Two fingers. Each level begins a new measure, so that one movement can go through several. */
export class Pinch {
  #from: number | undefined;

  /** Fingers are put down or taken away. */
  begin(fingers: readonly Point[]): void {
    this.#from = distance(fingers);
  }

  move(fingers: readonly Point[]): Step {
    const to = distance(fingers);
    if (to === undefined || this.#from === undefined) return 0;
    const ratio = to / this.#from;
    if (ratio < FACTOR && ratio > 1 / FACTOR) return 0;
    this.#from = to;
    return ratio > 1 ? 1 : -1;
  }
}

function distance([one, other, ...more]: readonly Point[]): number | undefined {
  if (one === undefined || other === undefined || more.length > 0) return undefined;
  return Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
}

/** What between two fingers, or under one, is pointed at. */
export function middle(fingers: readonly Point[]): Point {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return { x: mean(fingers.map(({ x }) => x)), y: mean(fingers.map(({ y }) => y)) };
}

/** CSS pixels of a level: less than a notch of a wheel has. */
const NOTCH = 50;
/** A line in CSS pixels, where a browser counts in lines. */
const LINE = 33;
/** After this long a movement is another one. */
const REST_MS = 300;
/** A trackpad goes on for a while; a level stays at least as long. */
const STAY_MS = 160;

/** A wheel, or a trackpad that tells its pinch as many small turns of one. */
export class Wheel {
  #sum = 0;
  #last = -Infinity;
  #changed = -Infinity;

  turn({ deltaY, deltaMode, timeStamp }: Pick<WheelEvent, "deltaY" | "deltaMode" | "timeStamp">): Step {
    const by = deltaMode === 0 ? deltaY : deltaY * LINE;
    if (timeStamp - this.#last > REST_MS || by * this.#sum < 0) this.#sum = 0;
    this.#last = timeStamp;
    this.#sum += by;
    if (Math.abs(this.#sum) < NOTCH || timeStamp - this.#changed < STAY_MS) return 0;
    const step = this.#sum < 0 ? 1 : -1;
    this.#sum = 0;
    this.#changed = timeStamp;
    return step;
  }
}

/** A node that is to stay where it is on the screen, at this height, while the level changes. */
export interface Anchor {
  readonly node: string;
  readonly y: number;
}

/** The node at a point of an element, or else the nearest one. */
export function anchorAt(element: Element, { x, y }: Point): Anchor | undefined {
  let best: { away: number; node: string } | undefined;
  for (const part of element.querySelectorAll<SVGElement>("[data-node]")) {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const away = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
    if (best === undefined || away < best.away) best = { away, node: part.dataset.node ?? "" };
  }
  return best && { node: best.node, y };
}

/** Scrolls so that a height of an element is at a height of the window. */
export function scrollTo(element: Element, inside: number, y: number): void {
  const by = element.getBoundingClientRect().top + inside - y;
  const pane = element.closest(".scroll");
  // On narrow screens the page scrolls.
  (pane !== null && pane.scrollHeight > pane.clientHeight ? pane : window).scrollBy(0, by);
}
