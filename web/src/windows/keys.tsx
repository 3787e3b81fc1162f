// The keys.

import { useState } from "preact/hooks";

import type { WindowProps } from "../header";
import { Dialog } from "../parts";
import { prefer, preferences } from "../preferences";
import { VIEWS } from "../state";
import * as words from "../words";

const KEY_GROUPS: readonly { title: string; keys: readonly (readonly [string, string])[] }[] = [
  {
    title: "Everywhere",
    keys: [
      ["?", "this list"],
      ["/", "find a device"],
      [`Alt+1 to Alt+${VIEWS.length}`, VIEWS.map((view) => words.VIEWS[view]).join(", ")],
      ["F6", "from the text to its answer, and back"],
      ["Ctrl+Z", "outside of the text: take back a removal, or go back to what was open before"],
      ["Escape", "close a window, leave the editor"],
    ],
  },
  {
    title: "Picture",
    keys: [
      ["Arrows", "to the next device"],
      ["Home, End", "to the first, to the last"],
      ["Enter", "show it and its lines"],
      ["+, −, Ctrl+wheel, two fingers", "closer to the devices, back to pools and nodes"],
    ],
  },
  {
    title: "Editor",
    keys: [
      ["Ctrl+Z", "undo: typing, then what was added, removed or opened"],
      ["Ctrl+Y, Ctrl+Shift+Z", "redo"],
      ["Ctrl+Shift+[, Ctrl+Shift+]", "fold, unfold"],
      ["Ctrl+Alt+[, Ctrl+Alt+]", "fold all, unfold all"],
      ["Ctrl+F", "search and replace"],
      ["Ctrl+Space", "names that can stand here"],
      ["F12, Ctrl+click", "to the class, claim or template that is named"],
      ["F8", "to the next finding"],
      ["Ctrl+Shift+M", "list of findings with their fixes"],
    ],
  },
];

export function Keys({ onClose }: WindowProps) {
  const [kept, setKept] = useState(preferences);
  return (
    <Dialog title={words.KEYS} onClose={onClose}>
      {KEY_GROUPS.map(({ title, keys }) => (
        <section>
          <h3>{title}</h3>
          <dl class="keys">
            {keys.map(([key, does]) => (
              <div>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p>
        <label>
          <input type="checkbox" checked={kept.singleKeys} onChange={({ currentTarget: { checked } }) => setKept(prefer({ singleKeys: checked }))} />{" "}
          {words.SINGLE_KEYS}
        </label>
      </p>
    </Dialog>
  );
}
