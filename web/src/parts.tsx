// Small parts that several views share.

import type { Finding, Place, PlacedFinding, Severity } from "apportion";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";

import { Code } from "./code";
import { localPlace } from "./files";
import { usePage } from "./page";
import { Ticked } from "./ticked";
import * as words from "./words";

export { Ticked };

export function Findings({ title, findings }: { title: string; findings: readonly PlacedFinding[] }) {
  if (findings.length === 0) return null;
  return (
    <section class="findings" aria-label={title}>
      <h3>{title}</h3>
      <FindingList findings={findings} />
    </section>
  );
}

const MARKS: Record<Severity, string> = { error: "✕", warning: "▲", info: "○" };

/** What a long list shows at first. */
const SOME = 100;

/** The first entries of a list, and a button for the others where there are some. */
export function useSome<Entry>(entries: readonly Entry[]): { shown: readonly Entry[]; more: ComponentChildren } {
  const [isOpen, setIsOpen] = useState(false);
  const some = useMemo(() => entries.slice(0, SOME), [entries]);
  if (isOpen || entries.length <= SOME) return { shown: entries, more: null };
  const more = (
    <p class="more">
      <button type="button" class="link" onClick={() => setIsOpen(true)}>
        {words.more(entries.length - SOME)}
      </button>
    </p>
  );
  return { shown: some, more };
}

export function FindingList({ findings }: { findings: readonly PlacedFinding[] }) {
  const { act } = usePage();
  const { shown, more } = useSome(findings);
  return (
    <>
      <ul>
        {shown.map((finding) => (
          <li class={finding.severity}>
            <span class="mark">
              <span aria-hidden="true">{MARKS[finding.severity]}</span> {finding.severity}
            </span>
            <div>
              <p>
                <Ticked text={finding.message} /> {finding.place !== undefined && <LineLink place={finding.place} />}{" "}
                <Code code={finding.code} />
                {finding.fix !== undefined && finding.place !== undefined && (
                  <>
                    {" "}
                    <button type="button" class="small" onClick={() => act.fix(finding)}>
                      {words.APPLY_FIX}
                    </button>
                  </>
                )}
              </p>
              {finding.hint !== undefined && (
                <p class="muted">
                  <Ticked text={finding.hint} />
                </p>
              )}
              {finding.place === undefined && finding.object !== undefined && finding.object.name !== "" && (
                <p class="muted code">
                  {finding.object.kind} {words.objectName(finding.object)} {finding.path}
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
      {more}
    </>
  );
}

/** Goes to a place of the text; without a text of its own it says the line. */
export function LineLink({ place, text }: { place: Pick<Place, "line" | "utf16Range"> | undefined; text?: string }) {
  const { state, act } = usePage();
  if (place === undefined) return <>{text}</>;
  const { file, line } = localPlace(state.files, place);
  const name = state.files.length > 1 ? `${state.files[file]?.name ?? ""} ` : "";
  const where = `${name}${words.line(line)}`;
  return (
    <button type="button" class="link" title={where} onClick={() => act.reveal(place)}>
      {text ?? where}
    </button>
  );
}

export function FailureBox({ message }: { message: string }) {
  return (
    <div class="notice error" role="alert">
      <p>
        <strong>{words.FAILED}:</strong> {message}
      </p>
      <p>{words.FAILED_HELP}</p>
    </div>
  );
}

/** Why a question cannot be asked. */
export function Refusal({ findings }: { findings: readonly Finding[] }) {
  return (
    <div class="notice error" role="alert">
      {findings.map(({ message, hint }) => (
        <p>
          <Ticked text={hint === undefined ? message : `${message}; ${hint}`} />
        </p>
      ))}
    </div>
  );
}

/** Text to copy, with a button that does it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const [told, setTold] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setTold(words.COPIED);
    } catch {
      setTold(words.NOT_COPIED);
    }
  };
  return (
    <p class="row">
      <input class="wide code" readOnly aria-label={label} value={text} onFocus={({ currentTarget }) => currentTarget.select()} />
      <button type="button" onClick={() => void copy()}>
        {words.COPY}
      </button>
      <span role="status">{told}</span>
    </p>
  );
}

/** A window over the page. The browser holds the focus in it, and Escape closes it. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog">
        <div class="title">
          <h2>{title}</h2>
          <button type="button" class="small" onClick={() => dialog.current?.close()}>
            {words.CLOSE}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** Something that can be chosen: what it stands for, and how it is called. */
export interface Choosable {
  value: string;
  label: string;
}

/** A longer list takes long to draw and to read: then one writes a part of the name. */
const MOST_OPTIONS = 300;
const MOST_OFFERED = 50;

interface ChooserProps {
  options: readonly Choosable[];
  /** What is chosen; empty for nothing. */
  value: string;
  /** What nothing is called, where nothing can be chosen. */
  none?: string;
  onChoose: (value: string) => void;
}

/** One of many, or nothing: a list, or where that would be long a field that offers what matches. */
export function Chooser({ options, value, none, onChoose }: ChooserProps) {
  const [written, setWritten] = useState<string>();
  const id = useId();
  const isLong = options.length > MOST_OPTIONS;
  // While nothing is written, nothing is offered: most lists are never opened.
  const offered = isLong ? matching(options, written ?? "", MOST_OFFERED) : options;
  const entries = useMemo(() => offered.map(({ value, label }) => <option value={isLong ? label : value}>{isLong ? undefined : label}</option>), [isLong ? written : undefined, options]);
  if (!isLong) {
    return (
      <select
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.value;
          // What is chosen may be nothing again.
          currentTarget.value = value;
          onChoose(chosen);
        }}
      >
        {none !== undefined && <option value="">{none}</option>}
        {entries}
      </select>
    );
  }
  const choose = (chosen: Choosable) => {
    setWritten(undefined);
    onChoose(chosen.value);
  };
  return (
    <>
      <input
        type="search"
        list={id}
        placeholder={none ?? ""}
        value={written ?? options.find((option) => option.value === value)?.label ?? ""}
        onInput={({ currentTarget: { value: text } }) => {
          const chosen = options.find(({ label }) => label === text);
          if (chosen !== undefined) return choose(chosen);
          setWritten(text);
          if (text === "" && value !== "" && none !== undefined) onChoose("");
        }}
        onKeyDown={(event) => {
          const [first] = matching(options, written ?? "", 1);
          if (event.key !== "Enter" || first === undefined || !written) return;
          event.preventDefault();
          choose(first);
        }}
        onBlur={() => setWritten(undefined)}
      />
      <datalist id={id}>{entries}</datalist>
    </>
  );
}

/** The first of those whose label has a text, in any case. */
export function matching(options: readonly Choosable[], text: string, most: number): Choosable[] {
  const wanted = text.toLowerCase();
  const found: Choosable[] = [];
  for (const option of options) {
    if (found.length === most) break;
    if (option.label.toLowerCase().includes(wanted)) found.push(option);
  }
  return found;
}
