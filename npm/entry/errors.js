// What is thrown for mistakes of a program. What somebody wrote in a manifest throws nothing.

/** @import { Finding } from "./types.d.ts" */

export class RequestError extends Error {
  name = "RequestError";

  /** @param {readonly Finding[]} findings */
  constructor(findings) {
    super(findings.map((finding) => finding.message).join("; "));
    this.findings = findings;
  }
}

export class SettingsError extends RequestError {
  name = "SettingsError";
}

export class ChangedError extends Error {
  name = "ChangedError";

  constructor() {
    super("the engine has changed since it was forked");
  }
}
