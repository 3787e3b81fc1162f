// A cluster's facts, and the questions about them.

import {
  Engine as Raw,
  answer,
  convert as rawConvert,
  evaluate as rawEvaluate,
  validate as rawValidate,
} from "./apportion.js";
import { answered } from "./call.js";
import { ChangedError, RequestError, SettingsError } from "./errors.js";
import { parse, stringify } from "./json.js";
import { Facts, Held, guarded, headOf } from "./instance.js";
import { Manifests, readYaml } from "./manifests.js";
import { makeDisposable } from "./start.js";

/** @import { Answer, Asked, Change, Evaluation, Finding, KnownQuestion, ObjectRef, PlacedFinding, PlacesAnswer, PreparedQuestion, Question } from "./types.d.ts" */
/** @import { Difference, Eviction, ExplainRequest, Explanation, ExpressionAnswer, Fit, FitRequest, NodesNeeded, NodesNeededRequest, PodScores, ScoresRequest, Usage } from "./types.d.ts" */
/** @import { Snapshot, Supposition, TaintSpec } from "./types.d.ts" */
/** @import { Json, Report, SelectorQuestion, Settings, Submission } from "./types.d.ts" */

/** Makes an engine without anything in it. */
const BARE = Symbol("bare");

/**
 * Makes something in the module; the findings that it throws as a text are about settings.
 *
 * @template T
 * @param {() => T} make
 */
export function made(make) {
  try {
    return make();
  } catch (error) {
    if (typeof error !== "string") throw error;
    throw new SettingsError(parse(error));
  }
}

export class Engine {
  /** @type {Held<Raw>} */
  #held = /** @type {any} */ (undefined);
  #facts = new Facts();
  #settings = "{}";
  /** Whether objects were submitted, so that they have to be admitted again. */
  #submits = false;
  /** Changes so far. */
  #changes = 0;
  /** Whether objects may be others than were given, because there was a run. */
  #ran = false;
  /**
   * Of a fork: the engine that it was made of, how often that had changed then, and what it was.
   *
   * @type {{ engine: Engine, changes: number, facts: Facts, submits: boolean, ran: boolean } | undefined}
   */
  #origin;
  /**
   * Questions that were prepared, by number.
   *
   * @type {Map<number, string>}
   */
  #prepared = new Map();
  /** The number given last. */
  #lastPrepared = 0;
  /**
   * Who hears of changes.
   *
   * @type {Set<(change: Change) => void>}
   */
  #listeners = new Set();

  /** @param {Settings | typeof BARE} [settings] */
  constructor(settings = {}) {
    if (settings === BARE) return;
    this.#settings = stringify(settings);
    this.#held = made(() => new Held(() => this.#fill()));
  }

  /** An engine with the objects that were given; what became of them since is not in it. */
  #fill() {
    const raw = new Raw(this.#settings);
    const { texts } = this.#facts;
    if (texts.length > 0) this.#submits ? raw.submit(texts) : raw.apply(texts);
    for (let number = 1; number <= this.#lastPrepared; number += 1) {
      raw.prepare(this.#prepared.get(number) ?? '{"claims":[]}');
      if (!this.#prepared.has(number)) raw.forget(stringify({ prepared: number }));
    }
    return raw;
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  apply(objects) {
    return this.#take(objects, (raw, texts) => raw.apply(texts));
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  submit(objects) {
    this.#submits = true;
    return this.#take(objects, (raw, texts) => raw.submit(texts));
  }

  /**
   * @param {Iterable<unknown>} objects
   * @param {(raw: Raw, texts: string[]) => string} take
   * @returns {Finding[][]}
   */
  #take(objects, take) {
    const texts = Array.from(objects, (object) => (typeof object === "string" ? object : stringify(object)));
    /** @type {Finding[][]} */
    const findings = parse(this.#held.call((raw) => take(raw, texts)));
    this.#keep(texts.filter((_, index) => !findings[index]?.some(({ severity }) => severity === "error")));
    return findings;
  }

  /** @param {readonly string[]} texts */
  #keep(texts) {
    const kept = texts.filter((text) => this.#facts.keep(text) || this.#ran);
    if (kept.length === 0) return;
    // Texts are read for listeners alone.
    this.#change(this.#listeners.size === 0 ? {} : { objects: kept.flatMap((text) => headOf(text) ?? []) });
  }

  /** @param {Change} change */
  #change(change) {
    this.#changes += 1;
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** @param {(change: Change) => void} listener */
  onChange(listener) {
    // The same function may listen twice.
    const own = (/** @type {Change} */ change) => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * @param {string | Manifests} text
   * @returns {PlacedFinding[]}
   */
  applyYaml(text) {
    if (typeof text !== "string") return this.#applyManifests(text);
    const manifests = readYaml(text);
    try {
      return this.#applyManifests(manifests);
    } finally {
      manifests.free();
    }
  }

  /** @param {Manifests} manifests */
  #applyManifests(manifests) {
    /** @type {PlacedFinding[]} */
    const findings = parse(this.#applyHeld(Manifests.held(manifests)));
    const refused = new Set(findings.filter(({ severity }) => severity === "error").map(({ place }) => place?.document));
    this.#keep(manifests.documents.flatMap(({ isRefused }, number) => (isRefused || refused.has(number) ? [] : (manifests.jsonText(number) ?? []))));
    const start = (/** @type {PlacedFinding} */ finding) => finding.place?.utf16Range.start ?? 0;
    return [...manifests.problems, ...findings].sort((left, right) => start(left) - start(right));
  }

  /** @param {Held<import("./apportion.js").Manifests>} manifests */
  #applyHeld(manifests) {
    this.#submits = true;
    return this.#held.call((raw) => raw.applyManifests(manifests.raw));
  }

  /** @param {ObjectRef} object */
  delete({ kind, namespace, name }) {
    // Whatever happens to the call, the object is not to come back.
    this.#facts.remove({ kind, namespace, name });
    let isGone = true;
    try {
      isGone = this.#held.call((raw) => raw.remove(kind, namespace, name));
    } finally {
      if (isGone) this.#change({ objects: [{ kind, namespace, name }] });
    }
    return isGone;
  }

  /** @param {ObjectRef} object */
  get(object) {
    const text = this.getText(object);
    return text === undefined ? undefined : parse(text);
  }

  /** @param {ObjectRef} object */
  getText({ kind, namespace, name }) {
    return this.#held.call((raw) => raw.get(kind, namespace, name));
  }

  /**
   * @param {Question | PreparedQuestion} question
   * @returns {Answer}
   */
  allocate(question) {
    return parse(this.allocateText(stringify(question)));
  }

  /**
   * @param {Iterable<Question | PreparedQuestion>} questions
   * @returns {Answer[]}
   */
  allocateAll(questions) {
    return parse(this.allocateText(stringify(Array.from(questions))));
  }

  /** @param {string} question */
  allocateText(question) {
    return this.#held.call((raw) => raw.allocate(question));
  }

  /**
   * @param {Question | PreparedQuestion} question
   * @returns {PlacesAnswer}
   */
  fits(question) {
    return parse(this.fitsText(stringify(question)));
  }

  /**
   * @param {Iterable<Question | PreparedQuestion>} questions
   * @returns {PlacesAnswer[]}
   */
  fitsAll(questions) {
    return parse(this.fitsText(stringify(Array.from(questions))));
  }

  /** @param {string} question */
  fitsText(question) {
    return this.#held.call((raw) => raw.fits(question));
  }

  /**
   * @param {KnownQuestion} question
   * @returns {Answer}
   */
  allocateKnown(question) {
    return this.#known(question, (raw, text) => raw.allocateKnown(text));
  }

  /**
   * @param {KnownQuestion} question
   * @returns {Answer[]}
   */
  allocateEach(question) {
    return this.#known(question, (raw, text) => raw.allocateEach(text));
  }

  /**
   * @param {KnownQuestion} question
   * @param {(raw: Raw, text: string) => string} ask
   */
  #known(question, ask) {
    const answer = answered(this.#held.call((raw) => ask(raw, stringify(question))));
    if (question.take === true) {
      const keys = question.claims.flatMap(({ namespace = "", names }) => names.map((name) => ({ kind: "ResourceClaim", namespace, name })));
      const taken = [answer].flat().flatMap(({ allocations = [] }) => allocations);
      this.#keep(keys.slice(0, taken.length).flatMap((key) => this.getText(key) ?? []));
    }
    return answer;
  }

  /**
   * @param {Question} question
   * @returns {PreparedQuestion}
   */
  prepare(question) {
    const text = stringify(question);
    const prepared = answered(this.#held.call((raw) => raw.prepare(text)));
    this.#prepared.set(prepared.prepared, text);
    this.#lastPrepared = prepared.prepared;
    return prepared;
  }

  /** @param {PreparedQuestion} question */
  forget({ prepared }) {
    this.#prepared.delete(prepared);
    return answered(this.#held.call((raw) => raw.forget(stringify({ prepared }))));
  }

  /**
   * @param {ExplainRequest} [request]
   * @returns {Explanation[]}
   */
  explain(request = {}) {
    return this.#inquire({ kind: "explain", ...request });
  }

  /**
   * @param {Supposition} supposition
   * @returns {Difference}
   */
  whatIf(supposition) {
    return this.#inquire({ kind: "whatIf", ...supposition });
  }

  /**
   * @param {Iterable<Json>} objects
   * @returns {Difference}
   */
  compare(objects) {
    return this.#inquire({ kind: "compare", objects: Array.from(objects) });
  }

  /**
   * @returns {Usage}
   */
  usage() {
    return this.#inquire({ kind: "usage" });
  }

  /**
   * @param {FitRequest} request
   * @returns {Fit}
   */
  fit(request) {
    return this.#inquire({ kind: "fit", ...request });
  }

  /**
   * @param {NodesNeededRequest} request
   * @returns {NodesNeeded}
   */
  nodesNeeded(request) {
    return this.#inquire({ kind: "nodesNeeded", ...request });
  }

  /**
   * @param {ScoresRequest} [request]
   * @returns {PodScores[]}
   */
  scores(request = {}) {
    return this.#inquire({ kind: "scores", ...request });
  }

  /**
   * @param {TaintSpec[]} taints
   * @param {string} now
   * @returns {Eviction[]}
   */
  evictions(taints, now) {
    return this.#inquire({ kind: "evictions", taints, now });
  }

  /**
   * @param {string} expression
   * @param {string} [device]
   * @returns {ExpressionAnswer[]}
   */
  expression(expression, device = "") {
    return this.#inquire({ kind: "expression", expression, device });
  }

  /**
   * @param {{ anonymize?: boolean }} [options]
   * @returns {Snapshot}
   */
  snapshot({ anonymize = false } = {}) {
    return this.#inquire({ kind: "snapshot", anonymize });
  }

  /** @param {unknown} inquiry */
  #inquire(inquiry) {
    const { answer, findings } = parse(this.#held.call((raw) => raw.inquire(stringify(inquiry))));
    if (findings !== undefined) throw new RequestError(findings);
    return answer;
  }

  /** @returns {Report} */
  run() {
    return parse(this.runText());
  }

  runText() {
    this.#ran = true;
    try {
      return this.#held.call((raw) => raw.run());
    } finally {
      this.#change({});
    }
  }

  fork() {
    const fork = new Engine(BARE);
    const facts = this.#facts.fork();
    fork.#settings = this.#settings;
    fork.#facts = facts.fork();
    fork.#submits = this.#submits;
    fork.#ran = this.#ran;
    fork.#prepared = new Map(this.#prepared);
    fork.#lastPrepared = this.#lastPrepared;
    fork.#origin = { engine: this, changes: this.#changes, facts, submits: this.#submits, ran: this.#ran };
    fork.#held = new Held(() => fork.#fill(), () => this.#held.raw.fork());
    return fork;
  }

  commit() {
    const { engine, changes } = this.#forked();
    if (engine.#changes !== changes) throw new ChangedError();
    const fork = this.#held.raw;
    engine.#held.call((raw) => raw.adopt(fork));
    engine.#facts = this.#facts;
    engine.#submits = this.#submits;
    engine.#ran = this.#ran;
    this.free();
    engine.#change({});
  }

  revert() {
    const { facts, submits, ran } = this.#forked();
    this.#facts = facts.fork();
    this.#submits = submits;
    this.#ran = ran;
    // Where the module was made anew, it knows no fork.
    if (!this.#held.call((raw) => raw.revert())) this.#held.makeAgain();
    this.#change({});
  }

  #forked() {
    if (this.#origin === undefined) throw new TypeError("the engine is no fork");
    return this.#origin;
  }

  free() {
    this.#listeners.clear();
    this.#held.free();
  }
}

makeDisposable(Engine);

/**
 * @param {Asked} asked
 * @returns {Answer}
 */
export function allocate(asked) {
  return parse(allocateText(stringify(asked)));
}

/** @param {string} asked */
export function allocateText(asked) {
  return guarded(() => answer(asked));
}

/**
 * @param {SelectorQuestion} question
 * @returns {Evaluation}
 */
export function evaluate(question) {
  return parse(evaluateText(stringify(question)));
}

/** @param {string} question */
export function evaluateText(question) {
  return guarded(() => rawEvaluate(question));
}

/**
 * @param {Submission} submission
 * @param {Settings} [settings]
 * @returns {Finding[]}
 */
export function validate(submission, settings = {}) {
  return findingsOf(validateText(stringify({ settings, submission })));
}

/**
 * @param {Iterable<unknown>} objects
 * @param {Settings} [settings]
 * @returns {Finding[][]}
 */
export function validateSet(objects, settings = {}) {
  return findingsOf(validateText(stringify({ settings, objects: Array.from(objects) })));
}

/** @param {string} asked */
export function validateText(asked) {
  return guarded(() => rawValidate(asked));
}

/**
 * @param {unknown} object
 * @param {string} version
 * @returns {Json}
 */
export function convert(object, version) {
  return answered(guarded(() => rawConvert(stringify(object), version))).object;
}

/** @param {string} text */
function findingsOf(text) {
  return answered(text).findings;
}
