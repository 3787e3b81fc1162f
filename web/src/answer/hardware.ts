// Hardware made to measure, as manifests.

import { type Json, readYaml } from "apportion";

import { type Order, equipment } from "../model/hardware";
import type { Session } from "./session";

/** Manifests for an order, beside what the text has already. */
export function hardware(session: Session, inventory: string, order: Order): { text: string } {
  const source = readYaml(inventory);
  const target = readYaml("");
  try {
    const objects = source.documents.flatMap(({ isRefused }, number) => (isRefused ? [] : [source.json(number)]));
    const taken = new Set(session.reading.documents.map(({ object: { kind, name } }) => `${kind}/${name}`));
    const likeNode = session.stored().find(({ object: { kind } }) => kind === "Node")?.value;
    const made = equipment(objects, order, taken, likeNode) as Json[];
    return { text: target.rewrite(made) ?? "" };
  } finally {
    source.free();
    target.free();
  }
}
