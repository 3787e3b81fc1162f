// A cluster's facts, and the questions about them.

import {
  Engine as Raw,
  answer,
  convert as rawConvert,
  evaluate as rawEvaluate,
  validate as rawValidate,
} from "./apportion.js";
import { parse, stringify } from "./json.js";
import { Manifests, readYaml } from "./manifests.js";
import { makeDisposable, needStarted } from "./start.js";

/** @import { Answer, Asked, Evaluation, Finding, ObjectRef, PlacedFinding, Question } from "./types.d.ts" */
/** @import { Difference, Eviction, ExplainRequest, Explanation, ExpressionAnswer, Fit, FitRequest } from "./types.d.ts" */
/** @import { Snapshot, Supposition, TaintSpec } from "./types.d.ts" */
/** @import { Json, Report, SelectorQuestion, Settings, Submission } from "./types.d.ts" */

export class SettingsError extends Error {
  name = "SettingsError";

  /** @param {readonly Finding[]} findings */
  constructor(findings) {
    super(findings.map((finding) => finding.message).join("; "));
    this.findings = findings;
  }
}

export class Engine {
  #raw;

  /** @param {Settings} [settings] */
  constructor(settings = {}) {
    needStarted();
    try {
      this.#raw = new Raw(stringify(settings));
    } catch (error) {
      if (typeof error !== "string") throw error;
      throw new SettingsError(parse(error));
    }
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  apply(objects) {
    const texts = Array.from(objects, (object) => (typeof object === "string" ? object : stringify(object)));
    return parse(this.#raw.apply(texts));
  }

  /**
   * @param {Iterable<unknown>} objects
   * @returns {Finding[][]}
   */
  submit(objects) {
    const texts = Array.from(objects, (object) => (typeof object === "string" ? object : stringify(object)));
    return parse(this.#raw.submit(texts));
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
    const findings = parse(this.#raw.applyManifests(Manifests.raw(manifests)));
    const start = (/** @type {PlacedFinding} */ finding) => finding.place?.utf16Range.start ?? 0;
    return [...manifests.problems, ...findings].sort((left, right) => start(left) - start(right));
  }

  /** @param {ObjectRef} object */
  delete({ kind, namespace, name }) {
    return this.#raw.remove(kind, namespace, name);
  }

  /** @param {ObjectRef} object */
  get(object) {
    const text = this.getText(object);
    return text === undefined ? undefined : parse(text);
  }

  /** @param {ObjectRef} object */
  getText({ kind, namespace, name }) {
    return this.#raw.get(kind, namespace, name);
  }

  /**
   * @param {Question} question
   * @returns {Answer}
   */
  allocate(question) {
    return parse(this.allocateText(stringify(question)));
  }

  /** @param {string} question */
  allocateText(question) {
    return this.#raw.allocate(question);
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
   * @param {FitRequest} request
   * @returns {Fit}
   */
  fit(request) {
    return this.#inquire({ kind: "fit", ...request });
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
    const { answer, findings } = parse(this.#raw.inquire(stringify(inquiry)));
    if (findings !== undefined) throw new SettingsError(findings);
    return answer;
  }

  /** @returns {Report} */
  run() {
    return parse(this.runText());
  }

  runText() {
    return this.#raw.run();
  }

  fork() {
    const fork = new Engine();
    fork.#raw.free();
    fork.#raw = this.#raw.fork();
    return fork;
  }

  free() {
    this.#raw.free();
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
  needStarted();
  return answer(asked);
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
  needStarted();
  return rawEvaluate(question);
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
  needStarted();
  return rawValidate(asked);
}

/**
 * @param {unknown} object
 * @param {string} version
 * @returns {Json}
 */
export function convert(object, version) {
  needStarted();
  const answer = parse(rawConvert(stringify(object), version));
  if (answer.status === "unreadable") throw new SettingsError(answer.findings);
  return answer.object;
}

/** @param {string} text */
function findingsOf(text) {
  const answer = parse(text);
  if (answer.status === "unreadable") throw new SettingsError(answer.findings);
  return answer.findings;
}
