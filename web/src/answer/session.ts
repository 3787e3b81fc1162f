// One cluster at a time: read once, asked many things.

import type { Engine, Finding, ObjectRef, PlacedFinding, Report } from "apportion";

import { isEqual } from "../foreign";
import { type Inventory, type Stored, inventory, saying } from "../model/inventory";
import { type Question, settingsOf } from "../protocol";
import { Loaded, textOf } from "./loaded";
import { type Part, Reading } from "./reading";

/** What is known about one question. Everything is made when it is first needed. */
export class Session {
  readonly question: Question;
  readonly reading: Reading;
  /** What the question before had, until it is known what of it is still the same. */
  #before: { loaded: Loaded; played: Played | undefined } | undefined;
  #loaded: Loaded | undefined;
  #played: Played | undefined;
  /** What came of the question before, where it has to be played anew. */
  #reported: Report | undefined;
  #inventory: Inventory | undefined;
  /** The newest inventory before, with the parts that it is of. */
  #known: { parts: readonly Part[]; inventory: Inventory } | undefined;

  constructor(question: Question, reading = new Reading(question.text)) {
    this.question = question;
    this.reading = reading;
  }

  /** The session of the next question. It takes over what is the same there; this one is of no use afterwards. */
  followedBy(question: Question): Session {
    const next = new Session(question, new Reading(question.text, this.reading));
    this.reading.free(next.reading);
    next.#known = this.#inventory === undefined ? this.#known : { parts: this.reading.parts, inventory: this.#inventory };
    next.#before = this.#loaded === undefined ? this.#before : { loaded: this.#loaded, played: this.#played };
    return next;
  }

  isOf({ text, version, gates }: Question): boolean {
    const own = this.question;
    return own.text === text && own.version === version && JSON.stringify(own.gates) === JSON.stringify(gates);
  }

  #engine(): Loaded {
    if (this.#loaded === undefined) {
      const { loaded, played } = this.#before ?? {};
      this.#before = undefined;
      this.#loaded = Loaded.of(this.reading, settingsOf(this.question), loaded);
      if (loaded?.state === this.#loaded.state) this.#played = played;
      else {
        this.#reported = played?.report;
        played?.engine.free();
      }
      loaded?.free(this.#loaded);
    }
    return this.#loaded;
  }

  /** An engine with the objects as they are written, before anything was played: what the command line asks. */
  submitted(): Engine {
    return this.#engine().engine;
  }

  /** What reading the objects had to tell, in the order of the text. */
  readFindings(): PlacedFinding[] {
    const loaded = this.#engine();
    const start = ({ place }: PlacedFinding) => place?.utf16Range.start ?? 0;
    return this.reading.inPlace((part) => loaded.findingsOf(part)).sort((one, other) => start(one) - start(other));
  }

  report(): Report {
    return this.#play().report;
  }

  /** The engine after everything that fits was placed. */
  played(): Engine {
    return this.#play().engine;
  }

  #play(): Played {
    // First it is found out whether that was played already.
    const submitted = this.submitted();
    if (this.#played === undefined) {
      const engine = submitted.fork();
      const report = engine.run();
      // Where it is as it was, it need not be sent and drawn again.
      this.#played = { engine, report: isEqual(report, this.#reported) && this.#reported !== undefined ? this.#reported : report };
      this.#reported = undefined;
    }
    return this.#played;
  }

  /** The objects of the text that `kubectl` does not refuse, older versions as they are. */
  stored(): Stored[] {
    return this.reading.stored;
  }

  /** What the text offers: the one of the question before, where an edit made no difference to it. */
  inventory(): Inventory {
    if (this.#inventory === undefined) {
      const isBroken = this.reading.problems.some(({ severity }) => severity === "error");
      const { parts = [], inventory: before } = this.#known ?? {};
      const isSame = before?.isBroken === isBroken && parts.length === this.reading.parts.length && parts.every((part, index) => saysSame(part, this.reading.parts[index]));
      this.#inventory = before !== undefined && isSame ? before : { ...inventory(this.stored()), isBroken };
      if (this.#inventory !== before) this.#placeDevices(this.#inventory);
      this.#known = undefined;
    }
    return this.#inventory;
  }

  /** A device stands from its first line to the next device's, the last one to the end of its document. */
  #placeDevices({ pools }: Inventory): void {
    const devices = pools.flatMap((pool) => pool.devices);
    const slice = (name: string) => ({ kind: "ResourceSlice", namespace: "", name });
    const places = this.reading.locateAll(devices.map(({ slice: name, path }) => ({ object: slice(name), path })));
    const { documents } = this.reading;
    for (const [index, device] of devices.entries()) {
      const place = places[index];
      if (place === undefined) continue;
      const document = documents[place.document ?? -1]?.utf16Range ?? place.utf16Range;
      const next = devices[index + 1]?.slice === device.slice ? places[index + 1]?.utf16Range.start : undefined;
      device.start = place.utf16Range.start - document.start;
      device.end = (next ?? document.end) - document.start;
    }
  }

  placed(findings: readonly Finding[]): PlacedFinding[] {
    const places = this.reading.locateAll(findings.map(({ object, path }) => ({ object: object ?? NO_OBJECT, path })));
    return findings.map((finding, index) => {
      const place = places[index];
      return place === undefined ? finding : { ...finding, place };
    });
  }

  /** Gives the memory back; that of the reading stays where another session has it, too. */
  free(hasReading = true): void {
    this.#played?.engine.free();
    this.#before?.played?.engine.free();
    this.#loaded?.free();
    this.#before?.loaded.free();
    if (hasReading) this.reading.free();
  }
}

/** Whether an inventory is the same with either of two parts. Where devices stand, every character matters. */
function saysSame(one: Part, other: Part | undefined): boolean {
  if (one === other) return true;
  const all = [...one.stored, ...(other?.stored ?? [])];
  return other !== undefined && all.every(({ object }) => object.kind !== "ResourceSlice") && textOf(one.stored.map(saying)) === textOf(other.stored.map(saying));
}

/** An engine that was played, and what came of it. */
interface Played {
  engine: Engine;
  report: Report;
}

export const NO_OBJECT: ObjectRef = { kind: "", namespace: "", name: "" };
