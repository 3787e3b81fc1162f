// Sharing and keeping: a link, and downloads.

import { useEffect, useMemo, useState } from "preact/hooks";

import type { WindowProps } from "../header";
import { joined } from "../files";
import { type Model, modelOf } from "../model/model";
import { LEVELS, seenOf, zoomOf } from "../model/zoom";
import { usePage } from "../page";
import { Copyable, Dialog, Ticked } from "../parts";
import { type Drawing, inView, pngOf, svgOf } from "../share/image";
import { fragmentOf, sharedOf } from "../share/link";
import { useShown } from "../views/shown";
import * as words from "../words";

const EXTENTS = ["view", ...LEVELS] as const;
type Extent = (typeof EXTENTS)[number];

const NO_MODEL: Model = { groups: [], claims: [], devices: 0 };

export function Share({ onClose }: WindowProps) {
  const { state, act, ask } = usePage();
  const [link, setLink] = useState<string>();
  useEffect(() => {
    void fragmentOf(sharedOf(state)).then((fragment) => {
      setLink(fragment === undefined ? "" : new URL(fragment, location.href).href);
    });
  }, []);
  const [extent, setExtent] = useState<Extent>("view");
  const { inventory, result } = state;
  const model = useMemo(() => (inventory === undefined ? NO_MODEL : modelOf(inventory, result?.report)), [inventory, result]);
  const shown = useShown(model);
  // Before the window covers it.
  const [cutting] = useState(inView);
  const drawing = (): Drawing => {
    if (extent !== "view") return { model, level: extent };
    const zoom = zoomOf(shown, state.zoom);
    return { model: seenOf(shown, zoom), level: zoom.level, cutting: zoom.level === "cluster" ? undefined : cutting };
  };
  const snapshot = async () => {
    const { asked } = state;
    const outcome = asked && (await ask("snapshot", { question: asked }));
    if (outcome?.kind === "done") save("cluster.json", jsonText(outcome.answer), "application/json");
    else act.notice(words.NO_ANSWER);
  };
  const png = async () => {
    try {
      save("devices.png", await pngOf(drawing()));
    } catch {
      act.notice(words.NO_PNG);
    }
  };
  const svg = () => save("devices.svg", svgOf(drawing()).text, "image/svg+xml");
  const downloads: [string, string, () => void][] = [
    [words.AS_YAML, words.YAML_SAYS, () => save("cluster.yaml", joined(state.files), "application/yaml")],
    [words.AS_JSON, words.JSON_SAYS, () => save("report.json", jsonText(state.result?.report), "application/json")],
    [words.AS_SVG, words.SVG_SAYS, svg],
    [words.AS_PNG, words.PNG_SAYS, () => void png()],
    [words.SNAPSHOT, words.SNAPSHOT_SAYS, () => void snapshot()],
  ];
  return (
    <Dialog title={words.SHARE_TITLE} onClose={onClose}>
      <h3>{words.LINK}</h3>
      {link === "" ? (
        <p class="muted">{words.LINK_TOO_LONG}</p>
      ) : (
        <>
          <p class="muted">{words.LINK_SAYS}</p>
          <Copyable text={link ?? ""} label={words.LINK} />
        </>
      )}
      <h3>{words.DOWNLOADS}</h3>
      <p>
        <label>
          {words.EXTENT}{" "}
          <select value={extent} onChange={({ currentTarget: { value } }) => setExtent(value as Extent)}>
            {EXTENTS.map((name) => (
              <option value={name}>{words.EXTENTS[name]}</option>
            ))}
          </select>
        </label>
      </p>
      <ul class="catalogue">
        {downloads.map(([name, says, start]) => (
          <li>
            <button type="button" onClick={start}>
              {name}
            </button>
            <span class="muted">
              <Ticked text={says} />
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Integers beyond 2^53 are written as what they are. */
function jsonText(value: unknown): string {
  const raw = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON;
  return `${JSON.stringify(value, (_, part) => (typeof part === "bigint" ? (raw?.(String(part)) ?? String(part)) : part), 2)}\n`;
}

function save(name: string, content: string | Blob, type = ""): void {
  const address = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
