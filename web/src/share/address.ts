// The address of the page follows the state, and the state follows the address.

import type { Store } from "../store";
import { type Shared, type State, onNotice, onOpen } from "../state";
import * as words from "../words";
import { fragmentOf, readFragment, sharedOf } from "./link";

const PAUSE_MS = 400;

/** Opens what the address says, and from then on writes there what belongs to a link. */
export async function followAddress(store: Store<State>, ask: () => void): Promise<(state: State) => void> {
  let written = "";
  const open = async () => {
    if (location.hash === written) return;
    const shared = await readFragment(location.hash);
    if (shared === undefined) return;
    if (typeof shared === "string") store.value = onNotice(store.value, words.badLink(shared));
    else {
      store.value = onOpen(store.value, shared);
      ask();
    }
  };
  addEventListener("hashchange", () => void open());
  await open();

  let last = sharedOf(store.value);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = async () => {
    const fragment = await fragmentOf(sharedOf(store.value));
    // What is too long for an address has none: an older one would tell something else.
    written = fragment ?? "";
    history.replaceState(null, "", fragment ?? location.pathname + location.search);
  };
  return (state) => {
    const shared = sharedOf(state);
    if (isSame(shared, last)) return;
    last = shared;
    clearTimeout(timer);
    timer = setTimeout(() => void write(), PAUSE_MS);
  };
}

function isSame(one: Shared, other: Shared): boolean {
  return (Object.keys(one) as (keyof Shared)[]).every((name) => one[name] === other[name]);
}
