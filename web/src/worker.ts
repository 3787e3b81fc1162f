// The engine's thread. It loads the module, then answers one question at a time.

import { init } from "apportion";

import { answer, sessionOf } from "./answer/answer";
import { type FromWorker, type ToWorker, readToWorker } from "./protocol";

const isReady = init();
// Whoever asks is told.
isReady.catch(() => undefined);

self.addEventListener("message", (event: MessageEvent<unknown>) => {
  const asked = readToWorker(event.data);
  if (asked === undefined) return;
  const { id } = asked;
  isReady
    .then(() => reply(asked))
    .catch((error: unknown) => say({ kind: "failed", id, message: String(error) }));
});

function reply(asked: ToWorker): void {
  const { id, kind, ask } = asked;
  // What there is can be drawn while it is decided who gets it.
  if (kind === "run") say({ kind: "read", id, inventory: sessionOf(ask.question).inventory() });
  say({ kind: "done", id, answer: answer(asked) });
}

function say(message: FromWorker): void {
  self.postMessage(message);
}
