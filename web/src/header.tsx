// The bar on top: what is opened, whose rules hold, how the page looks.

import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { isWritten, usePage } from "./page";
import { Ticked } from "./parts";
import { preferences } from "./preferences";
import { VERSIONS, isVersion } from "./protocol";
import { type Side, VIEWS, type WindowName, onRedo } from "./state";
import * as words from "./words";

/** Windows over the page, each loaded when it is first opened. */
const WINDOWS = {
  examples: () => import("./windows/examples").then(({ Examples }) => Examples),
  hardware: () => import("./windows/hardware").then(({ HardwareWindow }) => HardwareWindow),
  files: () => import("./windows/files").then(({ Files }) => Files),
  share: () => import("./windows/share").then(({ Share }) => Share),
  settings: () => import("./windows/settings").then(({ Settings }) => Settings),
  proposal: () => import("./windows/proposal").then(({ Proposal }) => Proposal),
  keys: () => import("./windows/keys").then(({ Keys }) => Keys),
} satisfies Record<WindowName, () => Promise<ComponentType<WindowProps>>>;

export interface WindowProps {
  onClose: () => void;
}

export function Header() {
  const { state, act } = usePage();
  const open = state.window;
  // Where there is little room, what is seldom wanted is behind a button.
  const [isOpen, setIsOpen] = useState(false);
  useKeys(() => act.openWindow("keys"));
  const gates = Object.keys(state.gates).length;
  return (
    <header class="top">
      <h1>{words.TITLE}</h1>
      <p class="tagline">{words.TAGLINE}</p>
      <button type="button" class="around" onClick={() => act.goOn(0)}>
        {words.SHOW_AROUND}
      </button>
      <div class={isOpen ? "tools open" : "tools"}>
        <Opener name="examples">
          {words.EXAMPLES}
        </Opener>
        <Opener name="hardware">
          {words.HARDWARE}
        </Opener>
        <Opener name="files">
          {words.FILES}
        </Opener>
        <Opener name="share">
          {words.SHARE_BUTTON}
        </Opener>
        <button type="button" class="more" aria-expanded={isOpen} aria-label={words.MORE_TOOLS} onClick={() => setIsOpen(!isOpen)}>
          …
        </button>
        <div class="rest">
          <label>
            {words.VERSION_LABEL}{" "}
            <select
              value={state.version}
              onChange={({ currentTarget: { value } }) => isVersion(value) && act.chooseVersion(value)}
            >
              {VERSIONS.map((version) => (
                <option value={version}>{words.versionName(version)}</option>
              ))}
            </select>
          </label>
          <Opener name="settings">
            {gates === 0 ? words.SETTINGS : words.settings(gates)}
          </Opener>
          <Opener name="keys">
            {words.KEYS}
          </Opener>
        </div>
      </div>
      {state.elsewhere !== undefined && (
        <p class="toast" role="alertdialog" aria-label={words.LOAD}>
          <Ticked text={words.asksToLoad(state.elsewhere)} />{" "}
          <button type="button" class="small" onClick={() => void act.load(true)}>
            {words.LOAD}
          </button>{" "}
          <button type="button" class="small" onClick={() => void act.load(false)}>
            {words.LEAVE}
          </button>
        </p>
      )}
      {state.notice !== undefined && (
        <p class="toast" role="status">
          <Ticked text={state.notice.text} />{" "}
          {state.notice.canUndo && (
            <button type="button" class="small" onClick={() => act.undo()}>
              {words.UNDO}
            </button>
          )}
          {state.notice.canRedo && onRedo(state) !== undefined && (
            <button type="button" class="small" onClick={() => act.redo()}>
              {words.REDO}
            </button>
          )}{" "}
          <button type="button" class="small" onClick={() => act.notice(undefined)}>
            {words.CLOSE}
          </button>
        </p>
      )}
      {open !== undefined && <Window key={open} name={open} onClose={() => act.openWindow(undefined)} />}
    </header>
  );
}

/** Keys of the whole page. */
function useKeys(onHelp: () => void): void {
  const { act } = usePage();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target, key } = event;
      const isWriting = isWritten(target);
      const view = event.altKey && !event.ctrlKey ? VIEWS[Number(event.code.replace("Digit", "")) - 1] : undefined;
      if (view !== undefined) {
        act.show(view);
        document.getElementById(`tab-${view}`)?.focus();
      } else if (/^[yz]$/i.test(key) && (event.ctrlKey || event.metaKey) && !event.altKey && !isWriting) {
        const isUndo = key.toLowerCase() === "z" && !event.shiftKey;
        if (!(isUndo ? act.undo() : act.redo())) return;
      } else if (key === "F6") toggleSides(act.turn);
      // What lies on top closes by itself.
      else if (key === "Escape" && !isWriting && !event.defaultPrevented && document.querySelector(":popover-open") === null) {
        if (!act.dismiss()) return;
      }
      else if (isWriting || event.altKey || event.ctrlKey || event.metaKey || !preferences().singleKeys) return;
      else if (key === "?") onHelp();
      else if (key === "/" && document.getElementById("find") !== null) document.getElementById("find")?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** From the text to its answer, and back. */
function toggleSides(turn: (side: Side) => void): void {
  const editor = document.querySelector<HTMLElement>(".editor .cm-content, .editor textarea");
  const isInEditor = document.activeElement?.closest(".editor") !== null;
  turn(isInEditor ? "answer" : "text");
  // Once what is turned to is on the screen.
  requestAnimationFrame(() => (isInEditor ? document.querySelector<HTMLElement>('.views [aria-selected="true"]') : editor)?.focus());
}

function Opener({ name, children }: { name: WindowName; children: ComponentChildren }) {
  const { act } = usePage();
  return (
    <button type="button" aria-haspopup="dialog" onClick={() => act.openWindow(name)}>
      {children}
    </button>
  );
}

function Window({ name, onClose }: { name: WindowName } & WindowProps) {
  const { act } = usePage();
  const [Component, setComponent] = useState<{ is: ComponentType<WindowProps> }>();
  useEffect(() => {
    let isWanted = true;
    WINDOWS[name]().then(
      (is) => isWanted && setComponent({ is }),
      () => act.notice(words.NOT_LOADED),
    );
    return () => {
      isWanted = false;
    };
  }, []);
  return Component === undefined ? null : <Component.is onClose={onClose} />;
}
