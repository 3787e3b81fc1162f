// What can be done on the page, each as a change of the state and, where the cluster changed, a question.

import type { Client } from "./client";
import { leadsTo } from "./editor/knowledge";
import { isTour } from "./example";
import { type SourceFile, globalOffset, joined, localRange, split } from "./files";
import { firstPending } from "./model/headline";
import type { Inventory } from "./model/inventory";
import type { Actions } from "./page";
import type { Picked, State } from "./state";
import * as states from "./state";
import { newId } from "./share/drafts";
import type { Store } from "./store";
import * as words from "./words";

/** Typing asks at each pause of this length. */
const PAUSE_MS = 40;

/** What a text holds is drawn without its answer where that takes longer. */
const SOON_MS = 1_000;

/** Goes from what was opened to what was opened before or after it; false where there is nothing. */
export interface Steps {
  back(): boolean;
  forward(): boolean;
}

const NO_STEPS: Steps = { back: () => false, forward: () => false };

export function createActions(state: Store<State>, client: Client, steps: Steps = NO_STEPS): { act: Actions; ask: () => void } {
  const change = (to: State) => (state.value = to);
  let pause: ReturnType<typeof setTimeout> | undefined;
  /** Hears what becomes of a proposal. */
  let onDecided: ((isTaken: boolean) => void) | undefined;

  async function ask(): Promise<void> {
    clearTimeout(pause);
    const question = states.questionOf(state.value);
    change(states.onAsk(state.value, question));
    // Where there is an answer already, the next one is mostly drawn at once with what it is of.
    let read: Inventory | undefined;
    let soon: ReturnType<typeof setTimeout> | undefined;
    const withRead = () => (read === undefined ? state.value : states.onRead(state.value, read));
    const outcome = await client.ask("run", { question }, (inventory) => {
      read = inventory;
      if (state.value.result === undefined) change(withRead());
      else soon ??= setTimeout(() => change(withRead()), SOON_MS);
    });
    clearTimeout(soon);
    if (state.value.asked !== question || outcome.kind === "overtaken") return;
    if (outcome.kind === "failed") return void change(states.onFailure(withRead(), outcome.message));
    change(states.onResult(withRead(), outcome.answer));
    const subject = firstPending(outcome.answer);
    const explained = subject && (await client.ask("headline", { question, subject }));
    if (state.value.asked !== question) return;
    const [first] = explained?.kind === "done" ? explained.answer : [];
    if (first !== undefined) change(states.onExplained(state.value, question, first));
    // What a reviewer would say takes longer and can wait.
    const checked = await client.ask("check", { question });
    if (state.value.asked === question && checked.kind === "done") change(states.onChecked(state.value, checked.answer));
  }

  const askSoon = () => {
    clearTimeout(pause);
    pause = setTimeout(() => void ask(), PAUSE_MS);
  };

  const reveal = (start: number, end: number, takesFocus: boolean) => {
    const { file, range } = localRange(state.value.files, { start, end });
    change(states.onShow(state.value, file, range, takesFocus));
  };

  /** Opens files as a draft that was made from the tour; nobody who brings manifests means to run them beside it. */
  const openForTour = (files: readonly SourceFile[]) => {
    const { opened, side } = state.value;
    act.open(files, { opened, side });
    change(states.onNotice(state.value, words.INSTEAD_OF_TOUR, true));
  };

  const act: Actions = {
    edit(file, text) {
      if (state.value.files[file]?.text === text) return;
      change(states.onEdit(state.value, file, text));
      askSoon();
    },
    replace(file, text) {
      if (isTour(state.value.files, file)) openForTour([{ name: "cluster.yaml", text }]);
      else act.edit(file, text);
    },
    rewrite(text, documents) {
      const before = state.value.result?.documents.map(({ utf16Range }) => utf16Range);
      const known = before === undefined || documents === undefined ? undefined : { before, after: documents };
      const files = split(state.value.files, text, known);
      if (files === undefined) return false;
      const changed = files.findIndex((file, index) => file.text !== state.value.files[index]?.text);
      change(states.onFiles(state.value, files, changed === -1 ? state.value.active : changed));
      void ask();
      return true;
    },
    open(files, more = {}) {
      const { version, gates, view, loading } = state.value;
      change({ ...states.initial(files), draft: newId(), version, gates, view, loading, opened: { files, script: more.script ?? "" }, ...more });
      void ask();
    },
    addFiles(added) {
      if (added.length === 0) return;
      change(states.onAdd(state.value, beside(state.value.files, added)));
      void ask();
    },
    bring(files) {
      if (files.length > 0 && isTour(state.value.files)) openForTour(files);
      else act.addFiles(files);
    },
    removeFile(file) {
      change(states.onRemove(state.value, file, words.removed(state.value.files[file]?.name ?? "")));
      void ask();
    },
    undo() {
      const before = state.value;
      const { undos } = before;
      const last = undos.at(-1);
      if (last === undefined) return steps.back();
      change(states.onNotice({ ...state.value, undos: undos.slice(0, -1) }, undefined));
      if (last.kind === "opened") act.open(last.opened.files, { name: state.value.name, script: last.opened.script });
      else if (last.kind === "added") {
        change(states.onUndone(states.onTakeBack(state.value, last, words.removed), before, words.UNDONE));
        void ask();
      } else {
        const all = beside(state.value.files, [last.file]);
        const file = all.pop();
        const at = Math.min(last.at, all.length);
        change(states.onUndone(states.onFiles(state.value, file === undefined ? all : all.toSpliced(at, 0, file), at), before, words.UNDONE));
        void ask();
      }
      return true;
    },
    redo() {
      const next = states.onRedo(state.value);
      if (next === undefined) return steps.forward();
      change(next);
      void ask();
      return true;
    },
    setName: (name) => void change({ ...state.value, name }),
    renameFile(file, name) {
      if (name === "") return;
      const free = freeName(name, state.value.files.filter((_, index) => index !== file));
      change(states.onRename(state.value, file, free));
    },
    activate: (file) => void change(states.onActive(state.value, file)),
    chooseVersion(version) {
      change(states.onVersion(state.value, version));
      void ask();
    },
    setGate(gate, enabled) {
      change(states.onGate(state.value, gate, enabled));
      void ask();
    },
    cancel() {
      client.cancel();
      change(states.onNotice({ ...state.value, busy: false }, words.CANCELLED));
    },
    show: (view) => void change(states.onView(state.value, view)),
    turn: (side) => void change(states.onSide(state.value, side)),
    openWindow(name) {
      if (state.value.proposal !== undefined) act.decide(false);
      change(states.onWindow(state.value, name));
    },
    goOn: (tour) => void change(states.onTour(state.value, tour)),
    dismiss() {
      const { tour, picked, notice } = state.value;
      if (tour !== undefined) act.goOn(undefined);
      else if (picked !== undefined && picked.kind !== "other") act.pick(undefined);
      else if (notice !== undefined) act.notice(undefined);
      else return false;
      return true;
    },
    compareWith: (otherText) => void change({ ...state.value, isComparingText: otherText !== undefined, otherText: otherText ?? state.value.otherText }),
    suppose: (deeds) => void change(states.onDeeds(state.value, deeds)),
    filter: (filter) => void change(states.onFilter(state.value, filter)),
    zoom: (zoom) => void change({ ...state.value, zoom }),
    pick(picked) {
      change(states.onPick(state.value, picked));
      const range = picked?.kind === "device" ? states.deviceRange(state.value, picked.key) : undefined;
      // While an answer is awaited, places are those of the one before.
      if (range !== undefined && !state.value.busy && isCurrent(state.value)) reveal(range.start, range.end, false);
    },
    cursor(file, offset) {
      const at = globalOffset(state.value.files, file, offset);
      const picked = pickedAt(state.value, at);
      if (picked !== undefined && isCurrent(state.value)) change(states.onPick(state.value, picked));
    },
    reveal: ({ utf16Range: { start, end } }) => reveal(start, end, true),
    revealObject({ kind, namespace, name }) {
      const document = state.value.result?.documents.find(({ object }) =>
        object.kind === kind && object.name === name && (object.namespace || "default") === (namespace || "default"),
      );
      if (document !== undefined) act.reveal(document);
    },
    define(line, column) {
      const leads = leadsTo(line, column);
      const document = state.value.result?.documents.find(({ object }) => leads?.kinds.includes(object.kind) === true && object.name === leads.name);
      if (document === undefined || !isCurrent(state.value)) return false;
      act.reveal(document);
      return true;
    },
    async propose(title, text, documents) {
      onDecided?.(false);
      const before = joined(state.value.files);
      change(states.onProposal(state.value, { title, text }));
      const isTaken = await new Promise<boolean>((resolve) => (onDecided = resolve));
      onDecided = undefined;
      if (!isTaken) return false;
      const isSame = joined(state.value.files) === before;
      const isMade = isSame && act.rewrite(text, documents);
      if (!isMade) act.notice(isSame ? words.CANNOT_REWRITE : words.CHANGED_MEANWHILE);
      return isMade;
    },
    decide(isTaken) {
      change(states.onProposal(state.value, undefined));
      onDecided?.(isTaken);
    },
    async fix(finding) {
      const question = state.value.asked;
      if (question === undefined || !isCurrent(state.value)) return act.notice(words.CHANGED_MEANWHILE);
      const outcome = await client.ask("correct", { question, finding });
      if (outcome.kind === "overtaken") return;
      const text = outcome.kind === "done" ? outcome.answer.text : undefined;
      if (text === undefined) act.notice(words.CANNOT_REWRITE);
      else await act.propose(finding.hint ?? finding.message, text, undefined);
    },
    setScript: (script) => void change({ ...state.value, script }),
    setUntil: (untilMillis) => void change({ ...state.value, untilMillis }),
    setExpression: (expression) => void change({ ...state.value, expression }),
    setDevice: (device) => void change({ ...state.value, device }),
    async load(isWanted) {
      const { elsewhere } = state.value;
      change(states.onElsewhere(state.value, undefined));
      if (elsewhere === undefined || !isWanted) return;
      const { fetched } = await import("./share/elsewhere");
      const found = await fetched(elsewhere);
      if (typeof found === "string") act.notice(words.notFetched(found));
      else act.open([found], { name: found.name });
    },
    notice: (notice) => void change(states.onNotice(state.value, notice)),
  };
  return { act, ask: () => void ask() };
}

/** Whether places of the answer are places of the text as it is now. */
function isCurrent({ asked, files }: State): boolean {
  return asked !== undefined && asked.text === joined(files);
}

/** What stands at an offset: a device, a claim, or another object. */
function pickedAt({ inventory, result }: State, at: number): Picked | undefined {
  const document = result?.documents.find(({ utf16Range: { start, end } }) => start <= at && at <= end);
  if (document === undefined) return undefined;
  const { kind, namespace, name } = document.object;
  const home = namespace === "" ? "default" : namespace;
  if (kind === "ResourceClaim") return { kind: "claim", key: `${home}/${name}` };
  if (kind === "ResourceSlice") {
    for (const pool of inventory?.pools ?? []) {
      const within = at - document.utf16Range.start;
      const device = pool.devices.find(({ slice, start, end }) => slice === name && start <= within && within < end);
      if (device !== undefined) return { kind: "device", key: `${pool.driver}/${pool.name}/${device.name}` };
    }
  }
  const claim = kind === "Pod" ? result?.report.pods.find((pod) => pod.name === name && pod.namespace === home)?.claims[0]?.claim : undefined;
  return claim === undefined ? { kind: "other", object: document.object } : { kind: "claim", key: `${home}/${claim}` };
}

/** Files beside those that are there; files without text make room for a text. */
export function beside(files: readonly SourceFile[], added: readonly SourceFile[]): SourceFile[] {
  const isBlank = ({ text }: SourceFile) => text.trim() === "";
  return withNames(files.every(isBlank) && !added.every(isBlank) ? [] : files, added);
}

/** Files beside those that are there, none with the name of another. */
export function withNames(files: readonly SourceFile[], added: readonly SourceFile[]): SourceFile[] {
  const all = [...files];
  for (const { name, text } of added) all.push({ name: freeName(name, all), text });
  return all;
}

/** The name, or one like it where another file has it. */
function freeName(name: string, files: readonly SourceFile[]): string {
  let free = name;
  for (let number = 2; files.some((file) => file.name === free); number += 1) free = name.replace(/(\.[a-z]+)?$/i, (ending) => `-${number}${ending}`);
  return free;
}

