// What was written, kept by the browser until it is opened again. Where the browser keeps nothing, it lasts as long as the page.

import type { Opened, Shared } from "../state";

export interface Draft {
  id: string;
  /** When it was last changed, in milliseconds since 1970. */
  at: number;
  shared: Shared;
  /** Before anything was changed. */
  opened: Opened;
}

/** As many are kept, the newest ones. */
export const MOST = 20;

const NAME = "apportion";
const STORE = "drafts";

export class Drafts {
  readonly #memory = new Map<string, Draft>();
  readonly #owned = new Set<string>();
  readonly #database = open();

  async get(id: string): Promise<Draft | undefined> {
    const kept = await this.#ask("readonly", (store) => store.get(id) as IDBRequest<Draft | undefined>);
    return kept ?? this.#memory.get(id);
  }

  /** All of them, the newest first. */
  async list(): Promise<Draft[]> {
    const kept = await this.#ask("readonly", (store) => store.getAll() as IDBRequest<Draft[]>);
    return [...(kept ?? this.#memory.values())].sort((one, other) => other.at - one.at);
  }

  /** Keeps one, in the place of its older text; the oldest go where there are too many. False where the browser keeps nothing. */
  async put(draft: Draft): Promise<boolean> {
    this.#memory.set(draft.id, draft);
    const isKept = (await this.#ask("readwrite", (store) => store.put(draft))) !== undefined;
    const count = (await this.#ask("readonly", (store) => store.count())) ?? this.#memory.size;
    if (count > MOST) for (const { id } of (await this.list()).slice(MOST)) await this.remove(id);
    return isKept;
  }

  async remove(id: string): Promise<void> {
    this.#memory.delete(id);
    await this.#ask("readwrite", (store) => store.delete(id));
  }

  /** The id, or a new one where another tab of the browser writes this draft: then both are kept. */
  async own(id: string): Promise<string> {
    if (this.#owned.has(id) || globalThis.navigator?.locks === undefined) return id;
    const isFree = await new Promise<boolean>((resolve) => {
      const hold = (lock: Lock | null) => {
        resolve(lock !== null);
        // Until the tab is closed.
        return lock === null ? undefined : new Promise<void>(() => undefined);
      };
      navigator.locks.request(`${NAME} ${id}`, { ifAvailable: true }, hold).catch(() => resolve(true));
    });
    if (!isFree) return this.own(newId());
    this.#owned.add(id);
    return id;
  }

  async #ask<Value>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<Value>): Promise<Value | undefined> {
    const database = await this.#database;
    if (database === undefined) return undefined;
    try {
      return await settled(ask(database.transaction(STORE, mode).objectStore(STORE)));
    } catch {
      // A full disk, for instance; the page goes on with what it has.
      return undefined;
    }
  }
}

export function newId(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
}

async function open(): Promise<IDBDatabase | undefined> {
  try {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    return await settled(request);
  } catch {
    return undefined;
  }
}

function settled<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
