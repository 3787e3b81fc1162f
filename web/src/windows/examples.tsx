// Examples to open.

import type { WindowProps } from "../header";
import { usePage } from "../page";
import { Dialog } from "../parts";
import * as words from "../words";
import { CATALOGUE, type Example, filesOf, scriptOf } from "./catalogue";

export function Examples({ onClose }: WindowProps) {
  const { act } = usePage();
  const open = async (example: Example) => {
    try {
      const [files, script] = await Promise.all([filesOf(example), scriptOf(example)]);
      act.open(files, { name: example.title, script, view: example.view ?? "result" });
      onClose();
    } catch {
      act.notice(words.NOT_LOADED);
    }
  };
  return (
    <Dialog title={words.EXAMPLES} onClose={onClose}>
      {CATALOGUE.map(({ title, examples }) => (
        <section>
          <h3>{title}</h3>
          <ul class="catalogue">
            {examples.map((example) => (
              <li>
                <button type="button" class="link" onClick={() => void open(example)}>
                  {example.title}
                </button>
                <span class="muted">{example.shows}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Dialog>
  );
}
