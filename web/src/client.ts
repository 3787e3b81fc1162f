// The page's side of the worker. One question is out at a time; of those that come meanwhile only the newest is kept.

import { type FromWorker, type Question, type ToWorker, readFromWorker } from "./protocol";

/** A worker as far as it is used here. */
export interface Thread {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<unknown>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

/** How long a newer question waits for an older one before the worker is replaced. */
export const PATIENCE_MS = 2_000;

export class Client {
  readonly #start: () => Thread;
  readonly #onAnswer: (answer: FromWorker) => void;
  #thread: Thread | undefined;
  #running: number | undefined;
  #waiting: ToWorker | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(start: () => Thread, onAnswer: (answer: FromWorker) => void) {
    this.#start = start;
    this.#onAnswer = onAnswer;
  }

  ask(id: number, question: Question): void {
    const message: ToWorker = { kind: "ask", id, question };
    if (this.#running === undefined) return this.#send(message);
    this.#waiting = message;
    this.#timer ??= setTimeout(() => this.#replace(), PATIENCE_MS);
  }

  #send(message: ToWorker): void {
    this.#running = message.id;
    this.#thread ??= this.#open();
    this.#thread.postMessage(message);
  }

  #open(): Thread {
    const thread = this.#start();
    thread.onmessage = ({ data }) => {
      const answer = readFromWorker(data);
      this.#finish(answer ?? { kind: "failed", id: this.#running ?? 0, message: "the worker sent something unknown" });
      // A module that trapped may hold half-written memory.
      if (answer?.kind === "failed") this.#close();
      this.#next();
    };
    thread.onerror = (event) => {
      event.preventDefault?.();
      this.#close();
      this.#finish({ kind: "failed", id: this.#running ?? 0, message: event.message || "the worker could not be started" });
      this.#next();
    };
    return thread;
  }

  #finish(answer: FromWorker): void {
    this.#running = undefined;
    this.#onAnswer(answer);
  }

  #next(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const message = this.#waiting;
    this.#waiting = undefined;
    if (message !== undefined) this.#send(message);
  }

  #replace(): void {
    this.#close();
    this.#running = undefined;
    this.#next();
  }

  #close(): void {
    this.#thread?.terminate();
    this.#thread = undefined;
  }
}
