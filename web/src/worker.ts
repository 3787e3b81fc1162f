// The engine's thread. It loads the module, then answers one question at a time.

import { init } from "apportion";

import { answer } from "./answer";
import { type FromWorker, readToWorker } from "./protocol";

const isReady = init();

self.addEventListener("message", (event: MessageEvent<unknown>) => {
  const asked = readToWorker(event.data);
  if (asked === undefined) return;
  const { id, question } = asked;
  isReady
    .then(() => ({ kind: "done", id, result: answer(question) }) satisfies FromWorker)
    .catch((error: unknown) => ({ kind: "failed", id, message: String(error) }) satisfies FromWorker)
    .then((reply) => self.postMessage(reply));
});
