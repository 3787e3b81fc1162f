// Calls by name: JSON texts in and out.

import { SettingsError } from "./engine.js";
import { parse, stringify } from "./json.js";

/**
 * @param {{ call(name: string, argument: string): string }} raw
 * @param {string} name
 * @param {unknown} argument
 * @returns {any}
 */
export function call(raw, name, argument) {
  const answer = parse(raw.call(name, stringify(argument)));
  if (answer?.status === "unreadable") throw new SettingsError(answer.findings);
  return answer;
}
