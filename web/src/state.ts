// The page's state: one immutable value, changed by pure functions.

import type { FromWorker, Question, Result, Version } from "./protocol";

export interface State {
  readonly question: Question;
  /** Number of the newest question; answers to older ones are dropped. */
  readonly latest: number;
  readonly busy: boolean;
  /** The newest answer; stays while the next one is awaited. */
  readonly result?: Result | undefined;
  /** Why there is no answer. */
  readonly failure?: string | undefined;
}

export function initial(text: string): State {
  return { question: { text, version: "all" }, latest: 0, busy: false };
}

export function onEdit(state: State, text: string): State {
  return text === state.question.text ? state : { ...state, question: { ...state.question, text } };
}

export function onVersion(state: State, version: Version): State {
  return { ...state, question: { ...state.question, version } };
}

/** The question as it is now is being asked. */
export function onAsk(state: State): State {
  return { ...state, latest: state.latest + 1, busy: true };
}

export function onAnswer(state: State, answer: FromWorker): State {
  if (answer.id !== state.latest) return state; // A newer question is out.
  switch (answer.kind) {
    case "done":
      return { ...state, busy: false, result: answer.result, failure: undefined };
    case "failed":
      return { ...state, busy: false, failure: answer.message };
    default:
      return answer satisfies never;
  }
}
