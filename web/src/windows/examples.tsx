// Examples to open.

import { Dialog } from "../parts";
import * as words from "../words";
import type { WindowProps } from "../header";

export function Examples({ onClose }: WindowProps) {
  return <Dialog title={words.EXAMPLES} onClose={onClose}>{null}</Dialog>;
}
