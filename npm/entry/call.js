// Calls by name: JSON texts in and out.

import { RequestError } from "./errors.js";
import { parse } from "./json.js";

/**
 * @param {string} text
 * @returns {any}
 */
export function answered(text) {
  const answer = parse(text);
  if (answer?.status === "unreadable") throw new RequestError(answer.findings);
  return answer;
}
