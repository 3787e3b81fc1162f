// How many more of a claim fit, where, and what runs out first.

import type { Bounds, Fit, FitPer, FitRequest } from "apportion";
import { useState } from "preact/hooks";

import { compareNumbered } from "../model/order";
import { FailureBox, Refusal, Ticked, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import type { Result } from "../protocol";
import * as words from "./words";

/** What can be counted: a claim that is written, or devices of a class. */
type Subject = { key: string; label: string } & Pick<FitRequest, "subject" | "device">;

export function FitView() {
  const { state } = usePage();
  const [wanted, setWanted] = useState("");
  const [count, setCount] = useState(1);
  const [per, setPer] = useState<FitPer>("node");
  const written = writtenClaims(state.result);
  const classes = (state.inventory?.classes ?? []).map((name): Subject => ({ key: `class ${name}`, label: name, device: { class: name, count } }));
  const chosen = [...written, ...classes].find(({ key }) => key === wanted) ?? written[0] ?? classes[0];
  const request = chosen && ({ per, ...(chosen.device ? { device: chosen.device } : { subject: chosen.subject }) } as FitRequest);
  const { answer, failure, isBusy } = useAnswer("fit", request && { request });
  if (chosen === undefined) return <p class="notice">{words.FIT_NOTHING}</p>;
  return (
    <>
      <div class="bar">
        <label>
          {words.FIT_SUBJECT}{" "}
          <select value={chosen.key} onChange={({ currentTarget: { value } }) => setWanted(value)}>
            <Options label={words.TEMPLATES} subjects={written} />
            <Options label={words.CLASSES} subjects={classes} />
          </select>
        </label>
        {chosen.device && (
          <label>
            {words.FIT_COUNT}{" "}
            <input class="narrow" type="number" min={1} max={32} value={count} onChange={({ currentTarget: { value } }) => setCount(clamped(Number(value), 1, 32))} />
          </label>
        )}
        <label>
          {words.FIT_PER}{" "}
          <select value={per} onChange={({ currentTarget: { value } }) => setPer(value as FitPer)}>
            {Object.entries(words.FIT_BY).map(([name, says]) => (
              <option value={name}>{says}</option>
            ))}
          </select>
        </label>
      </div>
      {failure !== undefined && <FailureBox message={failure} />}
      {answer === undefined && isBusy && <p class="muted late">{words.WORKING}</p>}
      {answer?.refused && <Refusal findings={answer.refused} />}
      {answer?.answer && <Answer fit={answer.answer} of={chosen.label} per={per} />}
    </>
  );
}

function Options({ label, subjects }: { label: string; subjects: readonly Subject[] }) {
  if (subjects.length === 0) return null;
  return (
    <optgroup label={label}>
      {subjects.map(({ key, label }) => (
        <option value={key}>{label}</option>
      ))}
    </optgroup>
  );
}

/** Templates, and claims that have no devices yet. */
function writtenClaims(result: Result | undefined): Subject[] {
  const allocated = new Set(result?.report.claims.filter((claim) => claim.allocated).map(({ namespace, name }) => `${namespace}/${name}`));
  return (result?.documents ?? []).flatMap(({ object }) => {
    const subject = { ...object, namespace: object.namespace || "default" };
    const label = `${subject.namespace}/${subject.name}`;
    const isFree = object.kind === "ResourceClaimTemplate" || (object.kind === "ResourceClaim" && !allocated.has(label));
    return isFree ? [{ key: `${object.kind} ${label}`, label, subject }] : [];
  });
}

function Answer({ fit, of, per }: { fit: Fit; of: string; per: FitPer }) {
  const { total, rows, runsOut, stranded, largest, remainders, namespaces } = fit;
  const isNone = Number(total.atMost) === 0;
  const rest = remainders.filter(({ left }) => left !== "0");
  const others = useSome(rest);
  return (
    <>
      <section class={`answer ${isNone ? "bad" : "good"}`} aria-label={words.FITS}>
        <p>
          {words.bounds(total)} more of <code>{of}</code> fit. <span class="muted">What runs out: <Ticked text={runsOut} />.</span>
        </p>
      </section>
      <Rows rows={rows} per={per} />
      {Number(stranded) > 0 && <p>{words.leftOver(Number(stranded))}</p>}
      <Pairs title={words.LARGEST} pairs={largest.map(({ class: name, devices }) => [name, words.bounds(devices)])} />
      <Pairs title={words.REMAINDERS} pairs={others.shown.map(({ driver, pool, of, name, left, total }) => [`${driver}/${pool}/${of}`, `${left} of ${total} ${name}`])} />
      {others.more}
      <Pairs title={words.NAMESPACES} pairs={namespaces.map(({ namespace, devices }) => [namespace, String(devices)])} />
    </>
  );
}

function Rows({ rows, per }: { rows: Fit["rows"]; per: FitPer }) {
  const sorted = [...rows].sort((one, other) => compareNumbered(one.name, other.name));
  const { shown, more } = useSome(sorted);
  const most = Math.max(1, ...rows.map(({ fits }) => least(fits)));
  if (rows.length === 0) return null;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.FIT_BY[per]}</th>
            <th scope="col" class="number">
              {words.FITS}
            </th>
            <th scope="col">
              <span class="hidden">{words.SHARE}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, fits }) => (
            <tr>
              <th scope="row">{name}</th>
              <td class="number">{words.bounds(fits)}</td>
              <td class="meter" aria-hidden="true">
                <svg viewBox="0 0 100 8" preserveAspectRatio="none">
                  <rect class="bar" width="100" height="8" />
                  <rect class="value" width={(least(fits) / most) * 100} height="8" />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

function Pairs({ title, pairs }: { title: string; pairs: readonly (readonly [string, string])[] }) {
  if (pairs.length === 0) return null;
  return (
    <table class="pairs">
      <caption>{title}</caption>
      <tbody>
        {pairs.map(([name, value]) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="number">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function least({ atLeast }: Bounds): number {
  return Number(atLeast);
}

function clamped(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.floor(value) || least));
}
