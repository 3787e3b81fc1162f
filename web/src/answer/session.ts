// One cluster at a time: read once, asked many things.

import { Engine, type Finding, Manifests, type ObjectRef, type PlacedFinding, type Report, readYaml } from "apportion";

import { type Inventory, type Stored, inventory } from "../model/inventory";
import { type Question, settingsOf } from "../protocol";

/** What is known about the newest question. Everything is made when it is first needed. */
export class Session {
  readonly question: Question;
  readonly manifests: Manifests;
  #engine: Engine | undefined;
  #submitted: Engine | undefined;
  #read: PlacedFinding[] = [];
  #report: Report | undefined;

  constructor(question: Question) {
    this.question = question;
    this.manifests = readYaml(question.text);
  }

  isOf({ text, version, gates }: Question): boolean {
    const own = this.question;
    return own.text === text && own.version === version && JSON.stringify(own.gates) === JSON.stringify(gates);
  }

  /** The engine with all objects, before anything was played. */
  #loaded(): Engine {
    if (this.#engine === undefined) {
      this.#engine = new Engine(settingsOf(this.question));
      this.#read = this.#engine.applyYaml(this.manifests);
    }
    return this.#engine;
  }

  /** What reading the objects had to tell. */
  readFindings(): PlacedFinding[] {
    this.#loaded();
    return this.#read;
  }

  report(): Report {
    this.#report ??= this.#loaded().run();
    return this.#report;
  }

  /** The engine after everything that fits was placed. */
  played(): Engine {
    this.report();
    return this.#loaded();
  }

  /** An engine with the objects as they are written, before anything was played: what the command line asks. */
  submitted(): Engine {
    if (this.#submitted === undefined) {
      this.#submitted = new Engine(settingsOf(this.question));
      this.#submitted.applyYaml(this.manifests);
    }
    return this.#submitted;
  }

  /** The objects of the text that `kubectl` does not refuse, older versions as they are. */
  stored(): Stored[] {
    return this.manifests.documents.flatMap(({ object, isRefused }, index) =>
      isRefused ? [] : [{ object, value: this.manifests.json(index) }],
    );
  }

  inventory(): Inventory {
    const found = inventory(this.stored());
    found.isBroken = this.manifests.problems.some(({ severity }) => severity === "error");
    this.#placeDevices(found);
    return found;
  }

  /** A device stands from its first line to the next device's, the last one to the end of its document. */
  #placeDevices({ pools }: Inventory): void {
    const devices = pools.flatMap((pool) => pool.devices);
    const slice = (name: string) => ({ kind: "ResourceSlice", namespace: "", name });
    const places = this.manifests.locateAll(devices.map(({ slice: name, path }) => ({ object: slice(name), path })));
    const documents = this.manifests.documents;
    for (const [index, device] of devices.entries()) {
      const place = places[index];
      if (place === undefined) continue;
      device.start = place.utf16Range.start;
      const next = devices[index + 1]?.slice === device.slice ? places[index + 1]?.utf16Range.start : undefined;
      device.end = next ?? documents[place.document ?? -1]?.utf16Range.end ?? place.utf16Range.end;
    }
  }

  placed(findings: readonly Finding[]): PlacedFinding[] {
    const places = this.manifests.locateAll(findings.map(({ object, path }) => ({ object: object ?? NO_OBJECT, path })));
    return findings.map((finding, index) => {
      const place = places[index];
      return place === undefined ? finding : { ...finding, place };
    });
  }

  free(): void {
    this.manifests.free();
    this.#engine?.free();
    this.#submitted?.free();
  }
}

export const NO_OBJECT: ObjectRef = { kind: "", namespace: "", name: "" };
