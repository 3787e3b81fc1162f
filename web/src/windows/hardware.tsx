// Hardware to add: a known inventory made to measure, or what one's own cluster has.

import { useState } from "preact/hooks";

import { normalised } from "../files";
import type { WindowProps } from "../header";
import { usePage } from "../page";
import { Copyable, Dialog } from "../parts";
import * as words from "../views/words";
import { addHardware, quantity } from "./adding";
import { DUMP, DUMP_ALL } from "./dump";
import { HARDWARE, type Hardware, hardwareFor } from "./inventories";
import { missing } from "../model/missing";

const VENDORS = [...new Set(HARDWARE.map(({ vendor }) => vendor))];
const MOST_NODES = 64;
const MOST_DEVICES = 128;

export function HardwareWindow({ onClose }: WindowProps) {
  return (
    <Dialog title={words.HARDWARE_TITLE} onClose={onClose}>
      <Known onClose={onClose} />
      <Own onClose={onClose} />
    </Dialog>
  );
}

/** One of the inventories that are known. */
function Known({ onClose }: WindowProps) {
  const page = usePage();
  const { inventory } = page.state;
  const wanted = inventory === undefined ? undefined : missing(inventory).map(hardwareFor).find((found) => found !== undefined);
  const [hardware, setHardware] = useState<Hardware>(wanted ?? (HARDWARE[0] as Hardware));
  const [nodes, setNodes] = useState(quantity(hardware).nodes);
  const [devices, setDevices] = useState(0);
  const [isBusy, setIsBusy] = useState(false);
  const choose = (index: number) => {
    const chosen = HARDWARE[index];
    if (chosen === undefined) return;
    setHardware(chosen);
    setNodes(quantity(chosen).nodes);
    setDevices(0);
  };
  const add = async () => {
    setIsBusy(true);
    if (await addHardware(page, hardware, { nodes, devices })) onClose();
    setIsBusy(false);
  };
  const hasDevices = hardware.driver !== "";
  const isSizable = hasDevices && hardware.isPartitioned !== true;
  return (
    <section aria-label={words.KNOWN_HARDWARE}>
      <div class="row">
        <label>
          {words.MODEL}{" "}
          <select value={HARDWARE.indexOf(hardware)} onChange={({ currentTarget: { value } }) => choose(Number(value))}>
            {VENDORS.map((vendor) => (
              <optgroup label={vendor}>
                {HARDWARE.map((entry, index) => entry.vendor === vendor && <option value={index}>{`${vendor}: ${entry.model}`}</option>)}
              </optgroup>
            ))}
          </select>
        </label>
        <NumberField label={words.NODES} value={nodes} most={MOST_NODES} onChange={setNodes} isDisabled={!hasDevices} />
        <NumberField
          label={words.DEVICES_PER_NODE}
          value={devices === 0 ? Math.max(hardware.perNode, 1) : devices}
          most={MOST_DEVICES}
          onChange={setDevices}
          isDisabled={!isSizable}
        />
        <button type="button" class="main" disabled={isBusy} onClick={() => void add()}>
          {words.ADD}
        </button>
      </div>
      <p class="muted">
        {words.brings(hardware)}
        {hardware.isPartitioned === true && ` ${words.FIXED_DEVICES}`}
      </p>
    </section>
  );
}

interface NumberFieldProps {
  label: string;
  value: number;
  most: number;
  isDisabled: boolean;
  onChange: (value: number) => void;
}

function NumberField({ label, value, most, isDisabled, onChange }: NumberFieldProps) {
  return (
    <label>
      {label}{" "}
      <input
        class="narrow"
        type="number"
        min={1}
        max={most}
        value={value}
        disabled={isDisabled}
        onChange={({ currentTarget: { value } }) => onChange(Math.max(1, Math.min(most, Math.floor(Number(value)) || 1)))}
      />
    </label>
  );
}

/** What one's own cluster has, as `kubectl` says it. */
function Own({ onClose }: WindowProps) {
  const { act } = usePage();
  const [text, setText] = useState("");
  return (
    <section aria-label={words.OWN_HARDWARE}>
      <h3>{words.OWN_HARDWARE}</h3>
      <p class="muted">{words.DUMP_SAYS}</p>
      <Copyable text={DUMP} label={words.DUMP_HARDWARE} />
      <Copyable text={DUMP_ALL} label={words.DUMP_EVERYTHING} />
      <textarea
        class="code"
        aria-label={words.PASTE}
        placeholder={words.PASTE_HINT}
        rows={5}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => setText(value)}
      />
      <p class="row">
        <button
          type="button"
          disabled={text.trim() === ""}
          onClick={() => {
            act.addFiles([{ name: "hardware.yaml", text: normalised(text) }]);
            onClose();
          }}
        >
          {words.ADD_PASTED}
        </button>
      </p>
    </section>
  );
}
