// Adds hardware to the text, as a file of its own.

import type { Page } from "../page";
import { questionOf } from "../state";
import * as words from "../words";
import { type Hardware, inventoryText } from "./inventories";

export interface Quantity {
  nodes: number;
  /** On each node; 0 for as many as the inventory has. */
  devices: number;
}

/** What is added without a further word. */
export function quantity({ nodes = 1 }: Hardware): Quantity {
  return { nodes, devices: 0 };
}

/** `nvidia-h100`. */
function fileName({ vendor, model }: Hardware): string {
  return `${vendor} ${model}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
}

/** False where it did not work; a message then says so. */
export async function addHardware({ now, ask, act }: Page, hardware: Hardware, { nodes, devices }: Quantity): Promise<boolean> {
  try {
    const inventory = await inventoryText(hardware);
    // Beside what is written now: nothing is to be there twice.
    const order = () => ask("hardware", { question: questionOf(now()), inventory, order: { driver: hardware.driver, nodes, devices } });
    let outcome = await order();
    // A run that lost patience took the worker along.
    if (outcome.kind === "overtaken") outcome = await order();
    if (outcome.kind !== "done") throw new Error(outcome.kind === "failed" ? outcome.message : "");
    act.addFiles([{ name: `${fileName(hardware)}.yaml`, text: outcome.answer.text }]);
    return true;
  } catch {
    act.notice(words.NOT_LOADED);
    return false;
  }
}
