// The page's start: state, worker, and what happens between them.

import { render } from "preact";

import { createActions } from "./actions";
import { App } from "./app";
import { Client } from "./client";
import { firstFiles } from "./example";
import { keepOffline } from "./offline";
import { PageContext } from "./page";
import { applyTheme, preferences } from "./preferences";
import { Openings, thisBrowser } from "./share/address";
import { Drafts } from "./share/drafts";
import { type State, initial, onLoading } from "./state";
import { Store } from "./store";
import { showHidden } from "./visible";
import * as words from "./words";

const root = document.getElementById("app");
const store = new Store({ ...initial(firstFiles), name: words.TOUR }, show);
const client = new Client(
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
  (share) => (store.value = onLoading(store.value, share)),
);
const { act, ask } = createActions(store, client, { back: () => openings.back(), forward: () => openings.forward() });
const drafts = new Drafts();
const openings = new Openings(store, ask, drafts, thisBrowser());
const asking: Client["ask"] = (kind, question, onRead) => client.ask(kind, question, onRead);

const now = () => store.value;
let onChange: ((state: State) => void) | undefined;

function show(): void {
  onChange?.(store.value);
  if (root === null) return;
  const page = { state: store.value, now, act, ask: asking, drafts };
  render(
    <PageContext.Provider value={page}>
      <App />
    </PageContext.Provider>,
    root,
  );
}

showHidden();
client.prepare();
keepOffline();
applyTheme(preferences().theme);
root?.replaceChildren();
show();
addEventListener("pagehide", () => openings.flush());
// The browser asks before what is kept nowhere is lost.
addEventListener("beforeunload", (event) => openings.isAtRisk && event.preventDefault());
void openings.start().then(() => {
  onChange = (state) => openings.follow(state);
  onChange(store.value);
  // Unless a link brought its own question.
  if (store.value.asked === undefined) ask();
});
