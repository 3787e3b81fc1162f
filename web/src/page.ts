// What every part of the page can reach: the state, what can be done, what can be asked.

import type { ObjectRef, Place, PlacedFinding, Utf16Range } from "apportion";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import type { Client, Outcome } from "./client";
import type { SourceFile } from "./files";
import type { Deed } from "./model/suppose";
import type { Zoom } from "./model/zoom";
import type { Answers, AskKind, Asks, Version } from "./protocol";
import type { Drafts } from "./share/drafts";
import type { Filter, Picked, Shared, Side, State, View, WindowName } from "./state";

export interface Actions {
  /** The text of a file was changed in the editor. */
  edit(file: number, text: string): void;
  /** A paste took the place of all text of a file; of the tour it leaves nothing. */
  replace(file: number, text: string): void;
  /**
   * All files as one text were changed by something else than typing; the editor can undo it. The documents are those of the new
   * text, where they are known. False when it cannot be said which file changed.
   */
  rewrite(text: string, documents: readonly Utf16Range[] | undefined): boolean;
  /** Opens files as something new: what was there before is one step back. */
  open(files: readonly SourceFile[], more?: Partial<Shared & Pick<State, "draft" | "opened" | "side">>): void;
  /** Manifests are dropped, opened or pasted: they come beside those that are there, but in the place of the tour. */
  bring(files: readonly SourceFile[]): void;
  /** Files come beside those that are there, in the place of empty ones. */
  addFiles(files: readonly SourceFile[]): void;
  removeFile(file: number): void;
  /** Takes back what was removed, added, restored or opened last; false where there is nothing. */
  undo(): boolean;
  /** Does again what was taken back last; false where there is nothing. */
  redo(): boolean;
  setName(name: string): void;
  renameFile(file: number, name: string): void;
  activate(file: number): void;
  chooseVersion(version: Version): void;
  setGate(gate: string, enabled: boolean | undefined): void;
  show(view: View): void;
  /** Stops the engine; the next change asks again. */
  cancel(): void;
  /** Turns a narrow screen to the text or to the answer. */
  turn(side: Side): void;
  /** Opens a window over the page, or closes it. */
  openWindow(name: WindowName | undefined): void;
  /** Shows a step of the tour, or ends it. */
  goOn(tour: number | undefined): void;
  /** Closes what was opened last over or beside the answer: the tour, what is picked, a notice; false where there is nothing. */
  dismiss(): boolean;
  /** Compares with another text; with other versions of Kubernetes where none is given. */
  compareWith(otherText: string | undefined): void;
  /** Tries other things on the cluster. */
  suppose(deeds: readonly Deed[]): void;
  filter(filter: Partial<Filter>): void;
  /** Goes nearer to the devices, or further away. */
  zoom(zoom: Zoom): void;
  /** Picks, and shows the lines of a device in the editor. */
  pick(picked: Picked | undefined): void;
  /** The cursor is at an offset of a file: what stands there is picked. */
  cursor(file: number, offset: number): void;
  /** Goes to a place of the joined text. */
  reveal(place: Pick<Place, "line" | "utf16Range">): void;
  /** Goes to the document of an object. */
  revealObject(object: ObjectRef): void;
  /** Goes to the object that the name at a column of a line leads to; false where there is none. */
  define(line: string, column: number): boolean;
  /** Shows what would become of the text; true once that was made, false where it was not wanted or could not be. */
  propose(title: string, text: string, documents: readonly Utf16Range[] | undefined): Promise<boolean>;
  /** Takes what is proposed, or leaves it. */
  decide(isTaken: boolean): void;
  fix(finding: PlacedFinding): void;
  setScript(script: string): void;
  setUntil(millis: number): void;
  setExpression(expression: string): void;
  setDevice(device: string): void;
  /** Answers whether the text of the address that a link names is to be loaded. */
  load(isWanted: boolean): Promise<void>;
  notice(text: string | undefined): void;
}

export interface Page {
  state: State;
  /** The state at this moment: that of the last drawing may be older. */
  now: () => State;
  act: Actions;
  ask: Client["ask"];
  drafts: Drafts;
}

/** Whether keys belong to what has the focus: a field, the editor, a window over the page. */
export function isWritten(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, textarea, .cm-content, dialog") !== null;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error("used outside the page");
  return page;
}

export interface Asked<Kind extends AskKind> {
  /** The newest answer; stays while the next one is awaited. */
  answer?: Answers[Kind];
  isBusy: boolean;
  failure?: string;
}

/** The answer to an ask that follows the cluster; nothing is asked where there is no ask. */
export function useAnswer<Kind extends AskKind>(kind: Kind, rest: Omit<Asks[Kind], "question"> | undefined): Asked<Kind> {
  const { state, ask } = usePage();
  const [asked, setAsked] = useState<Asked<Kind>>({ isBusy: true });
  const question = state.asked;
  const key = rest === undefined ? undefined : JSON.stringify(rest);
  useEffect(() => {
    if (question === undefined || rest === undefined) return;
    let isWanted = true;
    setAsked((before) => ({ ...before, isBusy: true }));
    void ask(kind, { question, ...rest } as Asks[Kind]).then((outcome: Outcome<Kind>) => {
      if (!isWanted || outcome.kind === "overtaken") return;
      setAsked(outcome.kind === "done" ? { answer: outcome.answer, isBusy: false } : { isBusy: false, failure: outcome.message });
    });
    return () => {
      isWanted = false;
    };
  }, [question, key]);
  return asked;
}
