// One cluster at a time: read once, asked many things.

import type { Engine, Finding, ObjectRef, PlacedFinding, Report } from "apportion";

import { type Inventory, type Stored, inventory } from "../model/inventory";
import { type Question, settingsOf } from "../protocol";
import { Loaded } from "./loaded";
import { Reading } from "./reading";

/** What is known about one question. Everything is made when it is first needed. */
export class Session {
  readonly question: Question;
  readonly reading: Reading;
  /** What the question before had, until it is known what of it is still the same. */
  #before: { loaded: Loaded; played: Played | undefined } | undefined;
  #loaded: Loaded | undefined;
  #played: Played | undefined;

  constructor(question: Question, reading = new Reading(question.text)) {
    this.question = question;
    this.reading = reading;
  }

  /** The session of the next question. It takes over what is the same there; this one is of no use afterwards. */
  followedBy(question: Question): Session {
    const next = new Session(question, new Reading(question.text, this.reading));
    this.reading.free(next.reading);
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
      else played?.engine.free();
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
      this.#played = { engine, report: engine.run() };
    }
    return this.#played;
  }

  /** The objects of the text that `kubectl` does not refuse, older versions as they are. */
  stored(): Stored[] {
    return this.reading.stored;
  }

  inventory(): Inventory {
    const found = inventory(this.stored());
    found.isBroken = this.reading.problems.some(({ severity }) => severity === "error");
    this.#placeDevices(found);
    return found;
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
      device.start = place.utf16Range.start;
      const next = devices[index + 1]?.slice === device.slice ? places[index + 1]?.utf16Range.start : undefined;
      device.end = next ?? documents[place.document ?? -1]?.utf16Range.end ?? place.utf16Range.end;
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

/** An engine that was played, and what came of it. */
interface Played {
  engine: Engine;
  report: Report;
}

export const NO_OBJECT: ObjectRef = { kind: "", namespace: "", name: "" };
