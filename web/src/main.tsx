// The page's start: state, worker, and what happens between them.

import { signal } from "@preact/signals";
import { render } from "preact";

import { App } from "./app";
import { Client } from "./client";
import { exampleText } from "./example";
import { initial, onAnswer, onAsk, onEdit, onVersion } from "./state";

/** Typing asks at each pause of this length. */
const PAUSE_MS = 80;

const state = signal(initial(exampleText));
const client = new Client(
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
  (answer) => (state.value = onAnswer(state.value, answer)),
);

function ask(): void {
  state.value = onAsk(state.value);
  client.ask(state.value.latest, state.value.question);
}

let pause: ReturnType<typeof setTimeout> | undefined;

const actions = {
  edit(text: string) {
    state.value = onEdit(state.value, text);
    clearTimeout(pause);
    pause = setTimeout(ask, PAUSE_MS);
  },
  chooseVersion(version: Parameters<typeof onVersion>[1]) {
    state.value = onVersion(state.value, version);
    ask();
  },
};

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App state={state} actions={actions} />, root);
  ask();
}
