// The page's state: one immutable value, changed by pure functions.

import type { Explanation, ObjectRef, PlacedFinding, Utf16Range } from "apportion";

import { type SourceFile, joined } from "./files";
import { isEqual } from "./foreign";
import { type Plain, plainOf } from "./model/headline";
import type { Inventory } from "./model/inventory";
import type { Deed } from "./model/suppose";
import type { Zoom } from "./model/zoom";
import type { Question, Result, Version } from "./protocol";

export const VIEWS = ["result", "why", "fit", "whatif", "nodes", "compare", "time", "cel"] as const;
export type View = (typeof VIEWS)[number];

/** What a screen shows that has room for one: the text, or what becomes of it. */
export const SIDES = ["answer", "text"] as const;
export type Side = (typeof SIDES)[number];

/** Windows over the page. */
export type WindowName = "examples" | "hardware" | "files" | "share" | "settings" | "keys" | "proposal";

/** What is picked: in the picture, in a table, or by the cursor in the text. */
export type Picked = { kind: "device"; key: string } | { kind: "claim"; key: string } | { kind: "workload"; key: string } | { kind: "other"; object: ObjectRef };

/** Which devices are shown. */
export interface Filter {
  readonly text: string;
  /** `namespace/name`; empty for all. */
  readonly claim: string;
  /** Name of a class; empty for all. */
  readonly deviceClass: string;
}

/** What can be taken back beside typing: a file that was removed, files that were added, or a text that was restored in the place of what it was made from. */
export type Undo =
  | { readonly kind: "removed"; readonly file: SourceFile; readonly at: number }
  /** Files that came beside others, or in the place of empty ones. */
  | { readonly kind: "added"; readonly added: readonly SourceFile[]; readonly replaced: readonly SourceFile[] }
  | { readonly kind: "opened"; readonly opened: Opened };

/** What was there before something was taken back, and the files that this left: it can be done again while they are as they were. */
export interface Redo extends Pick<State, "files" | "active" | "undos"> {
  readonly left: readonly SourceFile[];
}

/** A text that could be read as a whole, and what came of it. */
export interface Sound {
  readonly inventory: Inventory;
  readonly result: Result;
  readonly plain?: Plain | undefined;
}

export interface State {
  /** Which draft this is. */
  readonly draft: string;
  /** What it is called; empty for one that is called after its files. */
  readonly name: string;
  readonly files: readonly SourceFile[];
  /** What was opened, before anything was changed. */
  readonly opened: Opened;
  /** Which file is in the editor. */
  readonly active: number;
  readonly version: Version;
  /** Gates that differ from the version's defaults. */
  readonly gates: Readonly<Record<string, boolean>>;
  readonly view: View;
  readonly side: Side;
  readonly filter: Filter;
  /** What is done to the cluster in time, as YAML, and how long it is watched. */
  readonly script: string;
  readonly untilMillis: number;
  /** What is tried in the CEL lab; nothing until something was written there. */
  readonly expression: string | undefined;
  readonly device: string;

  /** What the text is compared with: other versions of Kubernetes, or this text. */
  readonly isComparingText: boolean;
  readonly otherText: string;

  /** What is tried in the what-if view. */
  readonly deeds: readonly Deed[];
  readonly window?: WindowName | undefined;
  /** A change of the text that waits to be taken. */
  readonly proposal?: { readonly title: string; readonly text: string } | undefined;
  /** The step of the tour, from 0, while it is shown. */
  readonly tour?: number | undefined;
  readonly picked?: Picked | undefined;
  /** How much of the cluster is to be seen at a time; nothing leaves it to the size of the cluster. */
  readonly zoom?: Zoom | undefined;
  /** Lines that the editor is to show, the newest wish. */
  readonly shown?: { readonly file: number; readonly range: Utf16Range; readonly takesFocus: boolean } | undefined;
  readonly busy: boolean;
  /** How much of the engine's module is there, from 0 to 1; nothing once all of it is. */
  readonly loading?: number | undefined;
  /** The newest question that was asked; what is shown beside the answer follows it, too. */
  readonly asked?: Question | undefined;
  /** What the newest manifests hold. */
  readonly inventory?: Inventory | undefined;
  /** The newest answer; stays while the next one is awaited. */
  readonly result?: Result | undefined;
  /** What the newest text that could be read as a whole came to: it is drawn while the text is broken. */
  readonly sound?: Sound | undefined;
  /** Why the first Pod that waits does; stays, too. */
  readonly plain?: Plain | undefined;
  /** That explanation as a whole, and the question that it belongs to. */
  readonly explained?: { readonly asked: Question; readonly explanation: Explanation } | undefined;
  /** What the API server and a reviewer would say; stays, too. */
  readonly checked: readonly PlacedFinding[];
  /** Why there is no answer. */
  readonly failure?: string | undefined;
  /** What the page has to tell about itself. */
  readonly notice?: { readonly text: string; readonly canUndo: boolean; readonly canRedo?: true } | undefined;
  /** An address that a link names; its text is loaded once the reader agrees. */
  readonly elsewhere?: string | undefined;
  /** The newest last. */
  readonly undos: readonly Undo[];
  /** What was undone, the newest last. */
  readonly redos: readonly Redo[];
}

export const NO_FILTER: Filter = { text: "", claim: "", deviceClass: "" };

/** What a link carries. */
export type Shared = Pick<State, "name" | "files" | "active" | "version" | "gates" | "view" | "filter" | "script" | "untilMillis" | "expression" | "device" | "otherText">;

/** What can be written. */
export type Opened = Pick<State, "files" | "script"> & Partial<Pick<State, "expression" | "otherText">>;

export function initial(files: readonly SourceFile[]): State {
  return {
    draft: "", name: "", files, opened: { files, script: "" }, active: 0, version: "all", gates: {}, view: "result", side: "answer", filter: NO_FILTER, script: "", untilMillis: 600_000,
    expression: undefined, device: "", isComparingText: false, otherText: "", deeds: [], busy: false, checked: [], undos: [], redos: [],
  };
}

export function questionOf({ files, version, gates }: State): Question {
  return { text: joined(files), version, gates };
}

/** Everything that belongs to a link is what it says there; answers to the cluster before are dropped. */
export function onOpen(state: State, shared: Shared, draft: string, opened: Opened): State {
  const { busy, loading } = state;
  // What was kept by an older page lacks what is new.
  const { expression, otherText = "" } = shared;
  return { ...initial(shared.files), ...shared, expression: expression || undefined, otherText, isComparingText: otherText !== "", draft, opened, busy, loading };
}

export function onEdit(state: State, file: number, text: string): State {
  const old = state.files[file];
  if (old === undefined || old.text === text) return state;
  return { ...state, files: state.files.map((other, index) => (index === file ? { ...old, text } : other)) };
}

export function onFiles(state: State, files: readonly SourceFile[], active = state.active): State {
  const some = files.length === 0 ? [{ name: "cluster.yaml", text: "" }] : files;
  return { ...state, files: some, active: Math.max(0, Math.min(active, some.length - 1)) };
}

/** Files come beside those that are there, the first of them is shown; that can be taken back. */
export function onAdd(state: State, all: readonly SourceFile[]): State {
  const [added, replaced] = [without(all, state.files), without(state.files, all)];
  return { ...onFiles(state, all, all.length - added.length), undos: [...state.undos, { kind: "added", added, replaced }] };
}

/** Files that were added go. What was written in them since can come back. */
export function onTakeBack(state: State, { added, replaced }: Extract<Undo, { kind: "added" }>, notice: (names: string) => string): State {
  const names = new Set(added.map(({ name }) => name));
  const rest = state.files.filter(({ name }) => !names.has(name));
  const isEdited = ({ name, text }: SourceFile) => names.has(name) && added.every((file) => file.name !== name || file.text !== text);
  const removed = state.files.flatMap((file, at): Undo[] => (isEdited(file) ? [{ kind: "removed", file, at }] : []));
  const next = onFiles(state, [...replaced, ...rest], replaced.length + rest.length - 1);
  if (removed.length === 0) return next;
  // The last one of the list is taken back first.
  return onNotice({ ...next, undos: [...next.undos, ...removed.toReversed()] }, notice(state.files.filter(isEdited).map(({ name }) => name).join(", ")), true);
}

/** What was there before files were taken back can be there again. */
export function onUndone(state: State, { files, active, undos, redos }: State, text: string): State {
  const notice = state.notice ?? { text, canUndo: false, canRedo: true };
  return { ...state, notice, redos: [...redos, { files, active, undos, left: state.files }] };
}

/** What was taken back last is there again; undefined where there is nothing, or the files were changed since. */
export function onRedo(state: State): State | undefined {
  const redo = state.redos.at(-1);
  if (redo === undefined || !isEqual(redo.left, state.files)) return undefined;
  const { files, active, undos } = redo;
  return onNotice({ ...state, files, active, undos, redos: state.redos.slice(0, -1) }, undefined);
}

/** Those of some files that are not among others. */
function without(files: readonly SourceFile[], others: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => !others.includes(file));
}

/** A file goes, and can come back. */
export function onRemove(state: State, at: number, notice: string): State {
  const file = state.files[at];
  if (file === undefined) return state;
  const active = at < state.active ? state.active - 1 : state.active;
  const rest = onFiles(state, state.files.filter((_, index) => index !== at), active);
  return onNotice({ ...rest, undos: [...state.undos, { kind: "removed", file, at }] }, notice, true);
}

/** A file has another name, also for what can be taken back. */
export function onRename(state: State, at: number, name: string): State {
  const file = state.files[at];
  if (file === undefined) return state;
  const other = (files: readonly SourceFile[]) => files.map((entry) => (entry.name === file.name ? { ...entry, name } : entry));
  const undos = state.undos.map((undo) => (undo.kind === "added" ? { ...undo, added: other(undo.added) } : undo));
  return { ...state, files: other(state.files), undos };
}

export function onActive(state: State, active: number): State {
  return state.files[active] === undefined ? state : { ...state, active };
}

/** The editor is to show a range of a file; where that takes the focus, a narrow screen turns to the text. */
export function onShow(state: State, file: number, range: Utf16Range, takesFocus: boolean): State {
  const side = takesFocus ? "text" : state.side;
  return { ...onActive(state, file), shown: { file, range, takesFocus }, side };
}

export function onSide(state: State, side: Side): State {
  return { ...state, side };
}

export function onVersion(state: State, version: Version): State {
  return { ...state, version };
}

/** A gate is set, or left to the version where no value is given. */
export function onGate(state: State, gate: string, enabled: boolean | undefined): State {
  const { [gate]: _, ...others } = state.gates;
  return { ...state, gates: enabled === undefined ? others : { ...others, [gate]: enabled } };
}

export function onView(state: State, view: View): State {
  return { ...state, view };
}

export function onWindow(state: State, window: WindowName | undefined): State {
  return { ...state, window };
}

/** A change of the text is shown before it is made; without one, nothing waits any more. */
export function onProposal(state: State, proposal: State["proposal"]): State {
  return { ...state, proposal, window: proposal === undefined ? undefined : "proposal" };
}

export function onTour(state: State, tour: number | undefined): State {
  return { ...state, tour };
}

export function onDeeds(state: State, deeds: readonly Deed[]): State {
  return { ...state, deeds };
}

export function onFilter(state: State, filter: Partial<Filter>): State {
  return { ...state, filter: { ...state.filter, ...filter } };
}

export function onPick(state: State, picked: Picked | undefined): State {
  return samePick(state.picked, picked) ? state : { ...state, picked };
}

export function onNotice(state: State, text: string | undefined, canUndo = false): State {
  return { ...state, notice: text === undefined ? undefined : { text, canUndo } };
}

export function onElsewhere(state: State, elsewhere: string | undefined): State {
  return { ...state, elsewhere };
}

export function onLoading(state: State, loading: number | undefined): State {
  return { ...state, loading };
}

/** The question as it is now is being asked. */
export function onAsk(state: State, asked: Question): State {
  return { ...state, busy: true, asked };
}

export function onRead(state: State, inventory: Inventory): State {
  return state.inventory === inventory ? state : { ...state, inventory };
}

export function onResult(state: State, result: Result): State {
  const { inventory } = state;
  const sound = inventory === undefined || inventory.isBroken ? state.sound : { inventory, result };
  return { ...state, busy: false, result, failure: undefined, sound };
}

export function onExplained(state: State, asked: Question, explanation: Explanation): State {
  const { sound, result } = state;
  const plain = plainOf(explanation);
  return { ...state, plain, explained: { asked, explanation }, sound: sound !== undefined && sound.result === result ? { ...sound, plain } : sound };
}

export function onChecked(state: State, checked: readonly PlacedFinding[]): State {
  return { ...state, checked };
}

export function onFailure(state: State, failure: string): State {
  return { ...state, busy: false, failure };
}

/** Findings of both kinds in the order of the text; what both tell is told once, in the words of the stricter one. */
export function findingsOf({ result, checked }: Pick<State, "result" | "checked">): PlacedFinding[] {
  const key = ({ code, path, place }: PlacedFinding) => `${code} ${path ?? ""} ${place?.utf16Range.start ?? ""}`;
  const strict = new Set(checked.map(key));
  const own = (result?.findings ?? []).filter((finding) => !strict.has(key(finding)));
  const start = ({ place }: PlacedFinding) => place?.utf16Range.start ?? Number.MAX_SAFE_INTEGER;
  return [...own, ...checked].sort((one, other) => start(one) - start(other));
}

/** Where a device stands in the text: its place is counted from the start of its slice. */
export function deviceRange({ inventory, result }: Pick<State, "inventory" | "result">, key: string): Utf16Range | undefined {
  for (const { driver, name, devices } of inventory?.pools ?? []) {
    if (!key.startsWith(`${driver}/${name}/`)) continue;
    const device = devices.find((device) => `${driver}/${name}/${device.name}` === key);
    const document = device && result?.documents.findLast(({ object }) => object.kind === "ResourceSlice" && object.name === device.slice);
    if (device !== undefined && document !== undefined) return { start: document.utf16Range.start + device.start, end: document.utf16Range.start + device.end };
  }
  return undefined;
}

function samePick(one: Picked | undefined, other: Picked | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
