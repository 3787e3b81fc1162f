// Texts of YAML and JSON documents, with the place of every field.

import { Manifests as Raw } from "./apportion.js";
import { Held } from "./instance.js";
import { parse, stringify } from "./json.js";
import { makeDisposable } from "./start.js";

/** @import { Field, Json, ManifestDocument, ObjectRef, Place, PlacedFinding } from "./types.d.ts" */

export class Manifests {
  #held;

  /** @param {string} text */
  constructor(text) {
    this.#held = new Held(() => new Raw(text));
    /** @type {readonly ManifestDocument[]} */
    this.documents = parse(this.#held.call((raw) => raw.documents()));
    /** @type {readonly PlacedFinding[]} */
    this.problems = parse(this.#held.call((raw) => raw.problems()));
  }

  /** @param {number} document */
  json(document) {
    const text = this.jsonText(document);
    return text === undefined ? undefined : parse(text);
  }

  /** @param {number} document */
  jsonText(document) {
    return this.#held.call((raw) => raw.json(document));
  }

  /**
   * @param {ObjectRef} object
   * @param {string} [path]
   */
  locate(object, path) {
    return this.locateAll([{ object, path }])[0];
  }

  /**
   * @param {readonly Field[]} fields
   * @returns {(Place | undefined)[]}
   */
  locateAll(fields) {
    const wanted = fields.map(({ object, path }) => ({ ...object, path: path ?? "" }));
    /** @type {(Place | null)[]} */
    const places = parse(this.#held.call((raw) => raw.locate(stringify(wanted))));
    return places.map((place) => place ?? undefined);
  }

  /**
   * @param {Iterable<Json>} objects
   * @returns {string | undefined}
   */
  rewrite(objects) {
    return this.#held.call((raw) => raw.rewrite(stringify(Array.from(objects))));
  }

  /**
   * @param {PlacedFinding} finding
   * @returns {string | undefined}
   */
  correct({ place, path, fix }) {
    if (place?.document === undefined || fix === undefined) return undefined;
    const { document } = place;
    return this.#held.call((raw) => raw.correct(document, path ?? "", stringify(fix)));
  }

  free() {
    this.#held.free();
  }

  /** @param {Manifests} manifests */
  static held(manifests) {
    return manifests.#held;
  }
}

makeDisposable(Manifests);

/** @param {string} text */
export function readYaml(text) {
  return new Manifests(text);
}
