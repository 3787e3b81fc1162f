// The bar on top: what is opened, whose rules hold, how the page looks.

import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { usePage } from "./page";
import { VERSIONS, isVersion } from "./protocol";
import * as words from "./words";

/** Windows over the page, each loaded when it is first opened. */
const WINDOWS = {
  examples: () => import("./windows/examples").then(({ Examples }) => Examples),
} satisfies Record<string, () => Promise<ComponentType<WindowProps>>>;

export interface WindowProps {
  onClose: () => void;
}

export type WindowName = keyof typeof WINDOWS;

export function Header() {
  const { state, act } = usePage();
  const [open, setOpen] = useState<WindowName>();
  return (
    <header class="top">
      <h1>{words.TITLE}</h1>
      <p class="tagline">{words.TAGLINE}</p>
      <div class="tools">
        <Opener name="examples" onOpen={setOpen}>
          {words.EXAMPLES}
        </Opener>
        <label>
          {words.VERSION_LABEL}{" "}
          <select
            value={state.version}
            onChange={({ currentTarget: { value } }) => isVersion(value) && act.chooseVersion(value)}
          >
            {VERSIONS.map((version) => (
              <option value={version}>{version === "all" ? words.ALL_VERSIONS : version}</option>
            ))}
          </select>
        </label>
      </div>
      {state.notice !== undefined && (
        <p class="toast" role="status">
          {state.notice}{" "}
          <button type="button" class="small" onClick={() => act.notice(undefined)}>
            {words.CLOSE}
          </button>
        </p>
      )}
      {open !== undefined && <Window key={open} name={open} onClose={() => setOpen(undefined)} />}
    </header>
  );
}

function Opener({ name, onOpen, children }: { name: WindowName; onOpen: (name: WindowName) => void; children: ComponentChildren }) {
  return (
    <button type="button" aria-haspopup="dialog" onClick={() => onOpen(name)}>
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
