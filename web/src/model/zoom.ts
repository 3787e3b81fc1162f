// How much of the cluster is seen at a time.

import { type Model, nodesOf, onlyNode } from "./model";

/** All nodes as a heat map, the pools of each with what is in use, or every device. */
export const LEVELS = ["cluster", "pools", "devices"] as const;
export type Level = (typeof LEVELS)[number];

/** A level, of one node alone where there is one. */
export interface Zoom {
  readonly level: Level;
  readonly node?: string | undefined;
}

export const MANY_DEVICES = 400;
const MANY_NODES = 24;

/** Whether there is more than can be looked at as a whole: that is first shown as a heat map. */
export function isLarge(model: Model): boolean {
  const nodes = nodesOf(model).length;
  return nodes > MANY_NODES || (model.devices > MANY_DEVICES && nodes > 1);
}

/** What was wished as far as it is there, or else what can be looked at as a whole. */
export function zoomOf(model: Model, wish: Zoom | undefined): Zoom {
  const nodes = nodesOf(model);
  const isThere = (wish?.node === undefined || nodes.some(({ title }) => title === wish.node)) && !(wish?.level === "cluster" && nodes.length === 0);
  if (wish !== undefined && isThere) return wish;
  return { level: isLarge(model) ? "cluster" : "devices" };
}

/** One level nearer or further; the same at either end. */
export function zoomed({ level, node }: Zoom, isCloser: boolean): Zoom {
  const at = LEVELS.indexOf(level) + (isCloser ? 1 : -1);
  const next = LEVELS[at] ?? level;
  // A node by itself has nothing between its devices and all nodes.
  if (node !== undefined) return isCloser ? { level, node } : { level: "cluster" };
  return { level: next };
}

/** What of the model is seen. */
export function seenOf(model: Model, { node }: Zoom): Model {
  return node === undefined ? model : onlyNode(model, node);
}
