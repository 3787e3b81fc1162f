// Hardware that is offered where what is asked for is not there.

import { useMemo, useState } from "preact/hooks";

import { missing } from "../model/missing";
import { Ticked } from "../parts";
import { usePage } from "../page";
import { addHardware, quantity } from "../windows/adding";
import { hardwareFor } from "../windows/inventories";
import * as words from "./words";

export function Offer() {
  const page = usePage();
  const { state, act } = page;
  const { inventory } = state;
  const [isBusy, setIsBusy] = useState(false);
  const absent = useMemo(() => (inventory === undefined ? [] : missing(inventory)), [inventory]);
  // A device plugin's resource is served by nodes, too: only what is known is offered for it.
  const asked = absent.filter((name) => !name.includes("/") || hardwareFor(name) !== undefined);
  const found = asked.map(hardwareFor).find((hardware) => hardware !== undefined);
  if (asked.length === 0) return null;
  const add = async () => {
    if (found === undefined) return;
    setIsBusy(true);
    await addHardware(page, found, quantity(found));
    setIsBusy(false);
  };
  return (
    <section class="offer" aria-label={words.OFFER}>
      <p>
        <Ticked text={words.absent(asked)} />
      </p>
      {found !== undefined && (
        <button type="button" class="main" disabled={isBusy} onClick={() => void add()}>
          {words.tryWith(found, quantity(found))}
        </button>
      )}
      <button type="button" aria-haspopup="dialog" onClick={() => act.openWindow("hardware")}>
        {words.OTHER_HARDWARE}
      </button>
    </section>
  );
}
