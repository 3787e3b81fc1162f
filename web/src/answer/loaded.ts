// The engine with the objects of a text as they are written, before anything was played. An edit changes the objects that it touches.

import { Engine, type ObjectRef, type PlacedFinding, type Settings } from "apportion";

import { record, text } from "../foreign";
import type { Stored } from "../model/inventory";
import type { Part, Reading } from "./reading";

/** Kinds whose objects mean the same in whatever order they come. Of Pods and of what makes Pods the first one is placed first. */
const UNORDERED = new Set([
  "Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "PriorityClass",
]);

/** What the engine made of a part. */
interface Taken {
  findings: readonly PlacedFinding[];
  /** Keys of the objects that it took. */
  keys: readonly string[];
  stored: readonly Stored[];
  /** Whether all its objects were taken as they are written and have names: then they can be replaced without a trace. */
  isPlain: boolean;
}

export class Loaded {
  readonly engine: Engine;
  readonly #settings: string;
  readonly #taken: ReadonlyMap<Part, Taken>;
  /** Keys of ordered objects, as they came. */
  readonly #order: readonly string[];
  /** The newest engine whose changed objects were all taken: the next one starts from it. */
  readonly #sound: Loaded;
  /** Equal for equal objects of one engine. */
  readonly state: object;

  private constructor(
    engine: Engine, settings: string, taken: ReadonlyMap<Part, Taken>, order: readonly string[], { sound, state = {} }: { sound?: Loaded; state?: object } = {},
  ) {
    this.engine = engine;
    this.state = state;
    this.#settings = settings;
    this.#taken = taken;
    this.#order = order;
    this.#sound = sound ?? this;
  }

  static of(reading: Reading, settings: Settings, before?: Loaded): Loaded {
    const key = JSON.stringify(settings);
    const sound = before === undefined ? undefined : before.#sound;
    const followed = sound !== undefined && sound.#settings === key ? sound.#followed(reading) : undefined;
    if (followed !== undefined) return followed;
    const engine = new Engine(settings);
    const taken = new Map(reading.parts.map((part) => [part, take(engine, part)]));
    return new Loaded(engine, key, taken, orderOf([...taken.values()]));
  }

  findingsOf(part: Part): readonly PlacedFinding[] {
    return this.#taken.get(part)?.findings ?? [];
  }

  /** The engine with the objects of another text, where those that differ can be replaced. */
  #followed({ parts }: Reading): Loaded | undefined {
    const now = new Set(parts);
    const gone = [...this.#taken].filter(([part]) => !now.has(part)).map(([, taken]) => taken);
    const come = parts.filter((part) => !this.#taken.has(part));
    if (gone.length + come.length === 0) return this;
    if (gone.some(({ isPlain }) => !isPlain)) return undefined;
    // A comment, or another layout.
    const isSame = textOf(gone.flatMap(({ stored }) => stored.map(({ value }) => value))) === textOf(come.flatMap(({ stored }) => stored.map(({ value }) => value)));
    const trial = this.engine.fork();
    const added = new Map(come.map((part) => [part, take(trial, part)]));
    const removed = new Set(gone.flatMap(({ keys }) => keys));
    const given = [...added.values()].flatMap(({ keys }) => keys);
    for (const key of given) removed.delete(key);
    // What the engine knows by another name it does not find.
    const isGone = [...removed].map((key) => trial.delete(objectOf(key))).every((isGone) => isGone);
    const taken = new Map(parts.flatMap((part) => {
      const entry = added.get(part) ?? this.#taken.get(part);
      return entry === undefined ? [] : [[part, entry] as const];
    }));
    const order = orderOf([...taken.values()]);
    const known = new Set(this.#order);
    const arrived = [...this.#order.filter((key) => !removed.has(key)), ...new Set(given.filter((key) => isOrdered(key) && !known.has(key)))];
    const changed = new Set([...removed, ...given]);
    const isElsewhere = parts.some((part) => !added.has(part) && (this.#taken.get(part)?.keys.some((key) => changed.has(key)) ?? false));
    const isNamed = come.every((part) => part.stored.every(({ value }) => isNamedObject(value)));
    if (!isGone || isElsewhere || !isNamed || order.join("\n") !== arrived.join("\n")) {
      trial.free();
      return undefined;
    }
    if (![...added.values()].every(({ isPlain }) => isPlain)) return new Loaded(trial, this.#settings, taken, order, { sound: this });
    if (isSame) trial.free();
    else trial.commit();
    return new Loaded(this.engine, this.#settings, taken, order, isSame ? { state: this.state } : {});
  }

  /** Gives the memory back, but that of engines which another one goes on with. */
  free(kept?: Loaded): void {
    const stay = new Set(kept === undefined ? [] : [kept.engine, kept.#sound.engine]);
    for (const engine of new Set([this.engine, this.#sound.engine])) if (!stay.has(engine)) engine.free();
  }
}

function take(engine: Engine, part: Part): Taken {
  const findings = engine.applyYaml(part.manifests);
  const refused = new Set(findings.filter(({ severity }) => severity === "error").map(({ place }) => place?.document));
  const { documents } = part.manifests;
  const usable = documents.filter(({ isRefused }, number) => !isRefused && !refused.has(number));
  const keys = usable.map(({ object: { kind, namespace, name } }) => keyOf(kind, namespace === "" ? "default" : namespace, name));
  const isWhole = refused.size === 0 && usable.length === documents.length && findings.every(({ code }) => code !== "validate/dropped-field");
  return { findings, keys, stored: part.stored, isPlain: isWhole && new Set(keys).size === keys.length && part.stored.every(({ value }) => isNamedObject(value)) };
}

/** An object without a name is another one each time. */
function isNamedObject(value: unknown): boolean {
  return text(record(record(value).metadata).name) !== "";
}

function isOrdered(key: string): boolean {
  return !UNORDERED.has(key.slice(0, key.indexOf(" ")));
}

function keyOf(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace} ${name}`;
}

function objectOf(key: string): ObjectRef {
  const [kind = "", namespace = "", ...name] = key.split(" ");
  return { kind, namespace, name: name.join(" ") };
}

/** Equal for equal values. */
export function textOf(values: readonly unknown[]): string {
  return JSON.stringify(values, (_, part) => (typeof part === "bigint" ? `${part}n` : (part as unknown)));
}

function orderOf(taken: readonly Taken[]): string[] {
  return [...new Set(taken.flatMap(({ keys }) => keys.filter(isOrdered)))];
}
