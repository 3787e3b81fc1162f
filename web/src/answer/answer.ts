// Every ask, answered by the package. The newest cluster is kept, so that asking on costs little.

import { Engine, type Json, readYaml } from "apportion";

import { record, text as textOf } from "../foreign";
import type { Stored } from "../model/inventory";
import type { Answers, Asks, Question, Received } from "../protocol";
import { settingsOf } from "../protocol";
import { cel, members } from "./cel";
import { check } from "./check";
import { hardware } from "./hardware";
import { life } from "./life";
import { ifSame, lean, renamedField, requoted } from "./minimal";
import { asked, compare, versions, whatIf } from "./questions";
import { run } from "./run";
import { Session } from "./session";

let newest: Session | undefined;

/** The session of a question: the newest one where it is of this question. */
export function sessionOf(question: Question): Session {
  if (newest?.isOf(question) !== true) {
    newest = newest === undefined ? new Session(question) : newest.followedBy(question);
  }
  return newest;
}

export function answer({ kind, ask }: Pick<Received, "kind" | "ask">): Answers[typeof kind] {
  const session = sessionOf(ask.question);
  return (BY_KIND[kind] as (session: Session, ask: unknown) => Answers[typeof kind])(session, ask);
}

const BY_KIND: { [Kind in keyof Asks]: (session: Session, ask: Asks[Kind]) => Answers[Kind] } = {
  run,
  check,
  why,
  headline: (session, { subject }) => session.played().explain({ subject, suggestions: false }),
  attempt,
  correct: ({ reading }, { finding }) => {
    const text = reading.whole((manifests) => manifests.correct(finding));
    return text === undefined ? {} : { text: ifSame(renamedField(reading.text, finding) ?? requoted(reading.text, text), text) };
  },
  life: (session, { script, untilMillis }) => life(session, script, untilMillis),
  cel: (session, { expression, device }) => cel(session.played(), expression, device),
  members: (session, { deviceClass }) => members(session.played(), deviceClass),
  hardware: (session, { inventory, order }) => hardware(session, inventory, order),
  fit: (session, { request }) => asked(() => session.submitted().fit(request)),
  scores: (session, { pod }) => asked(() => session.submitted().scores({ pods: [pod] })),
  whatIf: (session, { deeds }) => asked(() => whatIf(session, deeds)),
  compare: (session, { other }) => compare(session, other),
  versions,
  snapshot: (session) => session.played().snapshot(),
};

/** Changes are tried in the cluster as it was given, in which everything is placed anew once they are made. */
function why(session: Session, { subject, nodes }: Asks["why"]): Answers["why"] {
  const about = subject && { subject };
  return nodes === undefined ? session.submitted().explain({ suggestions: true, ...about }) : session.played().explain({ suggestions: false, ...about, nodes });
}

function attempt({ reading, question }: Session, { manifests }: Asks["attempt"]): Answers["attempt"] {
  const changed = manifests.map((manifest) => lean(manifest, writtenAs(reading.stored, manifest)));
  const rewritable = reading.whole((manifests) => manifests.rewrite(changed));
  const text = rewritable && ifSame(requoted(reading.text, rewritable), rewritable);
  const engine = new Engine(settingsOf(question));
  const rewritten = readYaml(text ?? question.text);
  try {
    engine.applyYaml(rewritten);
    if (text === undefined) engine.apply(changed);
    const documents = rewritten.documents.map(({ utf16Range }) => utf16Range);
    return { documents, report: engine.run(), ...(text === undefined ? {} : { text }) };
  } finally {
    rewritten.free();
    engine.free();
  }
}

/** The object of a manifest as the text has it. */
function writtenAs(stored: readonly Stored[], manifest: Json): unknown {
  const { kind, metadata } = record(manifest);
  const { name, namespace } = record(metadata);
  const isIt = ({ object }: Stored) => object.kind === kind && object.name === name && (object.namespace || "default") === (textOf(namespace) || "default");
  return stored.findLast(isIt)?.value;
}
