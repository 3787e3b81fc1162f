// Time: the cluster's life under a script, played, stepped through, and changed by hand.

import { useEffect, useMemo, useState } from "preact/hooks";

import { DEEDS, type Deed, clock, instants, inventoryAt, isMain, lanes, stageAt, withStep } from "../model/life";
import { modelOf } from "../model/model";
import { FailureBox, Ticked, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import { Picture } from "../picture/picture";
import type { Life } from "../protocol";
import { GATES } from "../windows/gates";
import { Hidden } from "./hidden";
import * as words from "./words";
import { Lanes } from "./lanes";

/** Time that each instant is shown when playing. */
const BEAT_MS = 700;

const LENGTHS = [60_000, 600_000, 3_600_000, 86_400_000] as const;

export function TimeView() {
  const { state } = usePage();
  const { script, untilMillis } = state;
  const { answer, failure, isBusy } = useAnswer("life", { script, untilMillis });
  const [at, setAt] = useState(0);
  const times = useMemo(() => (answer === undefined ? [0] : instants(answer)), [answer]);
  const now = times.findLast((time) => time <= at) ?? 0;
  const drawn = useMemo(() => (answer === undefined ? [] : lanes(answer.moments, answer.endMillis)), [answer]);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      <Script life={answer} now={now} />
      {answer === undefined ? (
        isBusy && <p class="muted late">{words.WORKING}</p>
      ) : (
        <>
          <Player times={times} now={now} onMove={setAt} />
          {drawn.length > 0 && <Lanes lanes={drawn} endMillis={answer.endMillis} now={now} steps={answer.steps} onMove={setAt} />}
          <Stage life={answer} now={now} />
          <Moments life={answer} now={now} onMove={setAt} />
        </>
      )}
    </>
  );
}

/** What is done to the cluster, as text and by hand. */
function Script({ life, now }: { life: Life | undefined; now: number }) {
  const { state, act } = usePage();
  const [deed, setDeed] = useState<Deed>("delete");
  const targets = useTargets(life, now, DEEDS[deed].targets);
  const [target, setTarget] = useState("");
  const [when, setWhen] = useState("0s");
  useEffect(() => setWhen(clock(now)), [now]);
  const chosen = targets.includes(target) ? target : targets[0];
  return (
    <section class="script">
      <div class="row">
        <label>
          {words.AT}{" "}
          <input class="narrow" value={when} onInput={({ currentTarget: { value } }) => setWhen(value)} />
        </label>
        <select aria-label={words.DEED} value={deed} onChange={({ currentTarget: { value } }) => setDeed(value as Deed)}>
          {Object.entries(DEEDS).map(([name, { says }]) => (
            <option value={name}>{says}</option>
          ))}
        </select>
        <select aria-label={words.TARGET} value={chosen} onChange={({ currentTarget: { value } }) => setTarget(value)}>
          {targets.map((name) => (
            <option value={name}>{name}</option>
          ))}
        </select>
        <button
          type="button"
          disabled={chosen === undefined}
          onClick={() => chosen !== undefined && act.setScript(withStep(state.script, when, deed, chosen))}
        >
          {words.DO_IT}
        </button>
        <label class="end">
          {words.WATCH}{" "}
          <select value={state.untilMillis} onChange={({ currentTarget: { value } }) => act.setUntil(Number(value))}>
            {LENGTHS.map((length) => (
              <option value={length}>{clock(length)}</option>
            ))}
          </select>
        </label>
      </div>
      <details open={state.script !== ""}>
        <summary>{words.SCRIPT}</summary>
        <textarea
          class="code"
          aria-label={words.SCRIPT}
          rows={Math.min(10, Math.max(3, state.script.split("\n").length))}
          spellcheck={false}
          value={state.script}
          placeholder={words.SCRIPT_HINT}
          onInput={({ currentTarget: { value } }) => act.setScript(value)}
        />
        <Hidden text={state.script} />
      </details>
      {life !== undefined && life.findings.length > 0 && (
        <p class="notice error" role="alert">
          {life.findings.map(({ path, message }) => (
            <span>
              {path} <Ticked text={message} />
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

/** What there is at a time that something can be done to. */
function useTargets(life: Life | undefined, now: number, kind: (typeof DEEDS)[Deed]["targets"]): string[] {
  const { state } = usePage();
  return useMemo(() => {
    const report = life && stageAt(life, now)?.report;
    switch (kind) {
      case "pods":
        return report?.pods.map(words.objectName) ?? [];
      case "nodes":
        return report?.nodes.map(({ name }) => name) ?? [];
      case "devices":
        return (state.inventory?.pools ?? []).flatMap(({ driver, name, devices }) => devices.map((device) => `${driver}/${name}/${device.name}`)).slice(0, 2000);
      case "gates":
        return [...GATES];
      case "components":
        return ["kube-controller-manager", "kube-scheduler", "kube-apiserver"];
      default:
        return kind satisfies never;
    }
  }, [life, now, kind, state.inventory]);
}

function Player({ times, now, onMove }: { times: readonly number[]; now: number; onMove: (at: number) => void }) {
  const [isPlaying, setIsPlaying] = useState(false);
  const index = times.indexOf(now);
  const last = times.length - 1;
  useEffect(() => {
    if (!isPlaying) return;
    if (index >= last) return setIsPlaying(false);
    const timer = setTimeout(() => onMove(times[index + 1] ?? now), BEAT_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, index, last]);
  const play = () => {
    if (!isPlaying && index >= last) onMove(0);
    setIsPlaying(!isPlaying);
  };
  return (
    <div class="row player" role="group" aria-label={words.PLAYER}>
      <button type="button" disabled={index <= 0} onClick={() => onMove(times[index - 1] ?? 0)}>
        {words.BACK}
      </button>
      <button type="button" onClick={play}>
        {isPlaying ? words.PAUSE : words.PLAY}
      </button>
      <button type="button" disabled={index >= last} onClick={() => onMove(times[index + 1] ?? now)}>
        {words.STEP}
      </button>
      <input
        class="wide"
        type="range"
        aria-label={words.TIME}
        aria-valuetext={clock(now)}
        min={0}
        max={last}
        value={index}
        onInput={({ currentTarget: { value } }) => onMove(times[Number(value)] ?? 0)}
      />
      <output>{clock(now)}</output>
    </div>
  );
}

/** How things stand at the time. */
function Stage({ life, now }: { life: Life; now: number }) {
  const { state, act } = usePage();
  const stage = stageAt(life, now);
  const reports = useMemo(() => life.stages.map(({ report }) => report), [life]);
  const model = useMemo(
    () => state.inventory && modelOf(inventoryAt(state.inventory, life, now), stage?.report, reports),
    [state.inventory, life, stage, reports],
  );
  if (model === undefined || stage === undefined) return null;
  const pending = stage.report.pods.filter(({ node }) => node === undefined).map(words.objectName);
  return (
    <section aria-label={words.STANDING}>
      <h3>
        {words.STANDING} {words.at(clock(now))}
      </h3>
      <p class="muted">{words.standing(stage.report)}</p>
      {pending.length > 0 && (
        <p>
          <span class="badge">Pending</span> {words.some(pending, 8).join(", ")}
        </p>
      )}
      <Picture model={model} isPicked={() => false} onPick={(key) => act.pick({ kind: "device", key })} />
    </section>
  );
}

function Moments({ life, now, onMove }: { life: Life; now: number; onMove: (at: number) => void }) {
  const [showsAll, setShowsAll] = useState(false);
  const { shown, more } = useSome(life.moments.filter((moment) => showsAll || isMain(moment)));
  return (
    <section class="moments" aria-label={words.EVENTS}>
      <div class="row">
        <h3>{words.EVENTS}</h3>
        <label class="end">
          <input type="checkbox" checked={showsAll} onChange={({ currentTarget: { checked } }) => setShowsAll(checked)} /> {words.ALL_EVENTS}
        </label>
      </div>
      {life.isRestless && <p class="notice">{words.RESTLESS}</p>}
      <table>
        <thead>
          <tr>
            <th scope="col">{words.TIME}</th>
            <th scope="col">{words.OBJECT}</th>
            <th scope="col">{words.HAPPENED}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ atMillis, object, happened, detail }) => (
            <tr class={atMillis === now ? "now" : atMillis > now ? "later" : ""} aria-current={atMillis === now ? "time" : undefined}>
              <td class="number">
                <button type="button" class="link" onClick={() => onMove(atMillis)}>
                  {clock(atMillis)}
                </button>
              </td>
              <th scope="row">
                {object.kind} {words.objectName(object)}
              </th>
              <td>
                {words.HAPPENINGS[happened]} <span class="muted">{detail}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </section>
  );
}
