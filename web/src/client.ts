// The page's side of the worker. One ask is out at a time; of each kind only the newest waits.

import type { Report } from "apportion";

import { type Answers, type AskKind, type Asks, type FromWorker, type Received, type Result, type ToWorker, heard, readAnswer, readFromWorker, sent } from "./protocol";

/** A worker as far as it is used here. */
export interface Thread {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<unknown>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

/** How it ended; `overtaken` when a newer ask came before it was answered. */
export type Outcome<Kind extends AskKind> =
  | { kind: "done"; answer: Answers[Kind] }
  | { kind: "failed"; message: string }
  | { kind: "overtaken" };

type Inventory = Extract<FromWorker, { kind: "read" }>["inventory"];

interface Entry {
  message: Received;
  onRead: ((inventory: Inventory) => void) | undefined;
  settle(outcome: Outcome<AskKind>): void;
}

/** How long a newer question waits for an older one before the worker is replaced. A worker that still loads is never replaced. */
export const PATIENCE_MS = 2_000;

const OVERTAKEN = { kind: "overtaken" } as const;

export class Client {
  readonly #start: () => Thread;
  readonly #onLoading: (share: number | undefined) => void;
  #isReady = false;
  #thread: Thread | undefined;
  /** The text that the thread knows. */
  #known = "";
  /** What the thread said last that the manifests hold. */
  #inventory: Inventory | undefined;
  /** The report that it sent last. */
  #report: Report | undefined;
  #running: Entry | undefined;
  readonly #waiting = new Map<AskKind, Entry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  /** `onLoading` gets the share of the module that has arrived, from 0 to 1, and `undefined` once it is loaded. */
  constructor(start: () => Thread, onLoading: (share: number | undefined) => void = () => undefined) {
    this.#start = start;
    this.#onLoading = onLoading;
  }

  /** Starts the worker before there is anything to ask: it has much to load. */
  prepare(): void {
    this.#thread ??= this.#open();
  }

  ask<Kind extends AskKind>(kind: Kind, ask: Asks[Kind], onRead?: Entry["onRead"]): Promise<Outcome<Kind>> {
    this.#lastId += 1;
    const message = { id: this.#lastId, kind, ask } as Received;
    return new Promise((resolve) => {
      const entry: Entry = { message, onRead, settle: (outcome) => resolve(outcome as Outcome<Kind>) };
      if (this.#running === undefined) return this.#send(entry);
      this.#waiting.get(kind)?.settle(OVERTAKEN);
      // The order is that of asking, but a new cluster goes first: everything else waits for what it says.
      this.#waiting.delete(kind);
      this.#waiting.set(kind, entry);
      this.#lose();
    });
  }

  /** Stops what runs and forgets what waits; the next ask starts anew. */
  cancel(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#close();
    this.#onLoading(undefined);
    this.#finish(OVERTAKEN);
    for (const entry of waiting) entry.settle(OVERTAKEN);
  }

  /** Loses patience some time after a newer question waits for an older one; a module that is on its way would only come later. */
  #lose(): void {
    const running = this.#running?.message.kind;
    if (!this.#isReady || running === undefined || !(this.#waiting.has("run") || this.#waiting.has(running))) return;
    this.#timer ??= setTimeout(() => this.#replace(), PATIENCE_MS);
  }

  #send(entry: Entry): void {
    this.#running = entry;
    this.#thread ??= this.#open();
    const { id, kind, ask } = entry.message;
    this.#thread.postMessage({ id, kind, ask: sent(ask, this.#known) } as ToWorker);
    this.#known = ask.question.text;
  }

  #open(): Thread {
    this.#isReady = false;
    [this.#known, this.#inventory, this.#report] = ["", undefined, undefined];
    this.#onLoading(0);
    const thread = this.#start();
    thread.onmessage = ({ data }) => this.#receive(readFromWorker(data));
    thread.onerror = (event) => {
      event.preventDefault?.();
      this.#fail(event.message || "the worker could not be started");
    };
    return thread;
  }

  #receive(message: FromWorker | undefined): void {
    if (message?.kind === "loading") return this.#isReady ? undefined : this.#onLoading(message.share);
    if (message?.kind === "ready") {
      this.#isReady = true;
      this.#onLoading(undefined);
      return this.#lose();
    }
    const running = this.#running;
    if (running === undefined) return;
    if (message === undefined) return this.#fail("the worker sent something unknown");
    if (message.id !== running.message.id) return;
    switch (message.kind) {
      case "read":
        this.#inventory = message.inventory;
        // Nobody looks at what is about to be replaced.
        return this.#waiting.has("run") ? undefined : running.onRead?.(message.inventory);
      case "failed":
        return this.#fail(message.message);
      case "done": {
        const { kind } = running.message;
        const answer = readAnswer(kind, kind === "run" ? heard(message.answer, this.#report) : message.answer);
        if (answer === undefined) return this.#fail("the worker sent something unknown");
        if (kind === "run") this.#report = (answer as Result).report;
        if (this.#waiting.has(running.message.kind)) return this.#finish(OVERTAKEN);
        // The thread says it only where it is another one.
        if (this.#inventory !== undefined) running.onRead?.(this.#inventory);
        return this.#finish({ kind: "done", answer });
      }
      default:
        return message satisfies never;
    }
  }

  /** A module that trapped may hold half-written memory, so its thread goes with it. */
  #fail(message: string): void {
    this.#close();
    this.#onLoading(undefined);
    this.#finish({ kind: "failed", message });
  }

  #finish(outcome: Outcome<AskKind>): void {
    const running = this.#running;
    this.#running = undefined;
    running?.settle(outcome);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const next = this.#waiting.get("run") ?? this.#waiting.values().next().value;
    if (next === undefined || this.#running !== undefined) return;
    this.#waiting.delete(next.message.kind);
    this.#send(next);
  }

  #replace(): void {
    this.#close();
    this.#finish(OVERTAKEN);
  }

  #close(): void {
    this.#thread?.terminate();
    this.#thread = undefined;
  }
}
