// The same cluster under several versions of Kubernetes, or beside another text.

import { useEffect, useMemo, useState } from "preact/hooks";

import { joined, normalised } from "../files";
import { modelOf } from "../model/model";
import { FailureBox, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import { Picture } from "../picture/picture";
import type { Compared, VersionAnswer } from "../protocol";
import type { Draft } from "../share/drafts";
import { Differences } from "./difference";
import { Hidden } from "./hidden";
import * as words from "./words";

export function CompareView() {
  const { state, act } = usePage();
  const { isComparingText, otherText } = state;
  return (
    <>
      <div class="bar">
        <label>
          {words.COMPARE_WITH}{" "}
          <select
            value={isComparingText ? "text" : "versions"}
            onChange={({ currentTarget: { value } }) => act.compareWith(value === "text" ? otherText : undefined)}
          >
            <option value="versions">{words.COMPARE_VERSIONS}</option>
            <option value="text">{words.COMPARE_TEXT}</option>
          </select>
        </label>
      </div>
      {isComparingText ? <OtherText /> : <Versions />}
    </>
  );
}

const NOTHING = {};

function Versions() {
  const { answer, failure, isBusy } = useAnswer("versions", NOTHING);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      {answer === undefined && isBusy && <p class="muted late">{words.WORKING}</p>}
      {answer !== undefined && <VersionTable answer={answer} />}
    </>
  );
}

function VersionTable({ answer: { columns, rows } }: { answer: VersionAnswer }) {
  const { act, state } = usePage();
  const { shown, more } = useSome(rows);
  return (
    <>
      {rows.length === 0 && <p class="notice">{words.SAME_EVERYWHERE}</p>}
      <table class="versions">
        <caption class="hidden">{words.COMPARE_VERSIONS}</caption>
        <thead>
          <tr>
            <td />
            {columns.map(({ version }) => (
              <th scope="col" class="number">
                <button type="button" class="link" aria-pressed={version === state.version} onClick={() => act.chooseVersion(version)}>
                  {words.versionName(version)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{words.PODS_PLACED}</th>
            {columns.map(({ placed, pods }) => (
              <td class="number">{words.outOf(placed, pods)}</td>
            ))}
          </tr>
          <tr>
            <th scope="row">{words.CLAIMS_ALLOCATED}</th>
            {columns.map(({ allocated, claims }) => (
              <td class="number">{words.outOf(allocated, claims)}</td>
            ))}
          </tr>
          {shown.map(({ name, states }) => (
            <tr>
              <th scope="row">{name}</th>
              {states.map((text, index) => (
                <td class={text === states[0] || index === 0 ? "" : "other"}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

/** Two texts: what differs in words, then both pictures. */
function OtherText() {
  const { state, act, drafts } = usePage();
  const other = state.otherText;
  const [kept, setKept] = useState<readonly Draft[]>([]);
  useEffect(() => void drafts.list().then((all) => setKept(all.filter(({ id }) => id !== state.draft))), [state.draft]);
  const { answer, failure, isBusy } = useAnswer("compare", other.trim() === "" ? undefined : { other });
  return (
    <>
      {kept.length > 0 && (
        <p class="bar">
          <label>
            {words.FROM_DRAFT}{" "}
            <select
              value=""
              onChange={({ currentTarget: { value } }) => {
                const draft = kept.find(({ id }) => id === value);
                if (draft !== undefined) act.compareWith(joined(draft.shared.files));
              }}
            >
              <option value="" />
              {kept.map(({ id, shared }) => (
                <option value={id}>{words.draftName(shared)}</option>
              ))}
            </select>
          </label>
        </p>
      )}
      <textarea
        class="code"
        aria-label={words.OTHER_TEXT}
        placeholder={words.OTHER_HINT}
        rows={8}
        spellcheck={false}
        value={other}
        onInput={({ currentTarget: { value } }) => act.compareWith(normalised(value))}
      />
      <Hidden text={other} />
      {failure !== undefined && <FailureBox message={failure} />}
      {other.trim() !== "" && answer === undefined && isBusy && <p class="muted late">{words.WORKING}</p>}
      {other.trim() !== "" && answer !== undefined && <Beside compared={answer} />}
    </>
  );
}

function Beside({ compared: { difference, inventory, report } }: { compared: Compared }) {
  const { state } = usePage();
  const reports = useMemo(() => [state.result?.report, report].filter((report) => report !== undefined), [state.result, report]);
  const before = useMemo(() => state.inventory && modelOf(state.inventory, state.result?.report, reports), [state.inventory, state.result, reports]);
  const after = useMemo(() => modelOf(inventory, report, reports), [inventory, report, reports]);
  return (
    <>
      <Differences difference={difference} sides={[words.THIS_TEXT, words.OTHER]} />
      <div class="beside">
        {([[words.THIS_TEXT, before], [words.OTHER, after]] as const).map(([title, model]) => (
          <section aria-label={title}>
            <h3>{title}</h3>
            {model !== undefined && <Picture model={model} isPicked={() => false} onPick={() => undefined} />}
          </section>
        ))}
      </div>
    </>
  );
}
