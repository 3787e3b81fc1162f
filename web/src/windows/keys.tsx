// The keys.

import { useState } from "preact/hooks";

import type { WindowProps } from "../header";
import { Dialog } from "../parts";
import { prefer, preferences } from "../preferences";
import * as words from "../words";

export function Keys({ onClose }: WindowProps) {
  const [kept, setKept] = useState(preferences);
  return (
    <Dialog title={words.KEYS} onClose={onClose}>
      {words.KEY_GROUPS.map(({ title, keys }) => (
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
