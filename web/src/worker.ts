// The engine's thread. It loads the module, then answers one question at a time.

import { type Report, init } from "apportion";
import address from "apportion/apportion_bg.wasm?url";

import { answer, sessionOf } from "./answer/answer";
import type { Inventory } from "./model/inventory";
import { type FromWorker, type Received, type Result, readToWorker, received, told } from "./protocol";

/** The size of the module, known when the page is built: what a server says is the size of what it sends. */
declare const MODULE_BYTES: number;

const isReady = load();
// Whoever asks is told.
isReady.catch(() => undefined);

async function load(): Promise<void> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the module is not there: ${response.status} ${response.statusText}`);
  // Counted beside the compiler, which keeps the answer itself and with it what the browser remembers of it.
  void tellProgress(response.clone()).catch(() => undefined);
  await init(await WebAssembly.compileStreaming(response));
  say({ kind: "ready" });
}

async function tellProgress({ body }: Response): Promise<void> {
  const reader = body?.getReader();
  let said = 0;
  for (let received = 0; reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) return;
    received += value.length;
    const share = Math.min(1, received / MODULE_BYTES);
    if (share - said < 0.01) continue;
    said = share;
    say({ kind: "loading", share });
  }
}

/** The text of the newest question: the next one says what is different. */
let known = "";

self.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = readToWorker(event.data);
  if (message === undefined) return;
  const asked = received(message, known);
  known = asked.ask.question.text;
  const { id } = asked;
  isReady
    .then(() => reply(asked))
    .catch((error: unknown) => say({ kind: "failed", id, message: String(error) }));
});

/** What the page has: it is not sent again. */
let page: { inventory?: Inventory; report?: Report } = {};

function reply(asked: Received): void {
  const { id, kind, ask } = asked;
  if (kind !== "run") return say({ kind: "done", id, answer: answer(asked) });
  const inventory = sessionOf(ask.question).inventory();
  // What there is can be drawn while it is decided who gets it.
  if (inventory !== page.inventory) say({ kind: "read", id, inventory });
  page = { ...page, inventory };
  const result = answer(asked) as Result;
  say({ kind: "done", id, answer: told(result, page.report) });
  page = { inventory, report: result.report };
}

function say(message: FromWorker): void {
  self.postMessage(message);
}
