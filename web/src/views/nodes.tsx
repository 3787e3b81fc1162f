// Scores and refusals as matrices of nodes: by plugins for a Pod that has a place, by reasons for what waits.

import type { ObjectRef, PodScores } from "apportion";
import { useMemo, useState } from "preact/hooks";

import { matrixOf } from "../model/matrix";
import { compareNumbered } from "../model/order";
import { FailureBox, Refusal, Ticked, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import * as words from "./words";

/** Nodes that are asked about at a time: the answer names every device of each. */
const MANY = 50;

export function NodesView() {
  const { state } = usePage();
  const { result } = state;
  const waiting = useMemo(() => subjectsOf(result?.report), [result]);
  const placed = useMemo(() => placedOf(result?.report), [result]);
  const [wanted, setWanted] = useState("");
  const all = [...waiting, ...placed];
  const subject = all.find((subject) => keyOf(subject) === wanted) ?? all[0];
  if (subject === undefined) return <p class="notice">{words.NOTHING}</p>;
  return (
    <>
      <div class="bar">
        <label>
          {words.MATRIX_SUBJECT}{" "}
          <select value={keyOf(subject)} onChange={({ currentTarget: { value } }) => setWanted(value)}>
            <Subjects label={words.WAITING} subjects={waiting} />
            <Subjects label={words.PLACED} subjects={placed} />
          </select>
        </label>
      </div>
      {waiting.includes(subject) ? <Refusals subject={subject} /> : <Scores key={keyOf(subject)} pod={subject} />}
    </>
  );
}

function Subjects({ label, subjects }: { label: string; subjects: readonly ObjectRef[] }) {
  if (subjects.length === 0) return null;
  return (
    <optgroup label={label}>
      {subjects.map((subject) => (
        <option value={keyOf(subject)}>{keyOf(subject)}</option>
      ))}
    </optgroup>
  );
}

function Refusals({ subject }: { subject: ObjectRef }) {
  const { state } = usePage();
  const { result } = state;
  const [most, setMost] = useState(MANY);
  const names = useMemo(() => result?.report.nodes.map(({ name }) => name).sort(compareNumbered) ?? [], [result]);
  const nodes = names.slice(0, most);
  const { answer, failure, isBusy } = useAnswer("why", nodes.length > 0 ? { subject, nodes } : undefined);
  const explanation = answer?.[0];
  const matrix = useMemo(() => explanation && matrixOf(explanation), [explanation]);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      {explanation === undefined && isBusy && <p class="muted late">{words.WORKING}</p>}
      {explanation !== undefined && (
        <p class="said">
          <strong>
            <Ticked text={explanation.plain ?? explanation.headline} />
          </strong>
        </p>
      )}
      {explanation?.stage.map(({ message }) => message !== explanation.headline && (
        <p class="muted">
          <Ticked text={message} />
        </p>
      ))}
      {matrix !== undefined && (matrix.rows.length === 0 ? <p class="notice">{words.NO_REASONS}</p> : <Table matrix={matrix} />)}
      {names.length > most && (
        <p class="more">
          <button type="button" class="link" onClick={() => setMost(most + MANY)}>
            {words.more(Math.min(MANY, names.length - most))}
          </button>
        </p>
      )}
    </>
  );
}

function Table({ matrix: { kinds, rows } }: { matrix: ReturnType<typeof matrixOf> }) {
  const largest = Math.max(1, ...rows.flatMap(({ counts }) => counts));
  return (
    <>
      <p class="muted">{words.MATRIX_SAYS}</p>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">{words.NODE}</th>
            <th scope="col">{words.REQUEST}</th>
            <th scope="col" class="number">
              {words.USABLE_DEVICES}
            </th>
            {kinds.map((kind) => (
              <th scope="col" class="number">
                {words.REASONS[kind]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ node, request, needed, usable, counts, texts, pools }) => (
            <tr>
              <th scope="row">
                {node}
                {pools.map((pool) => (
                  <small>
                    <Ticked text={pool} />
                  </small>
                ))}
              </th>
              <td>{request}</td>
              <td class={`number${usable < needed ? " short-of" : ""}`}>
                {words.outOf(usable, needed)}
              </td>
              {counts.map((count, index) => (
                <td class={`number heat h${count === 0 ? 0 : Math.ceil((count / largest) * 4)}`} title={texts[index]?.join("; ")}>
                  {count === 0 ? "" : count}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Nodes that fit a Pod, the best first, with what each plugin gives them. */
function Scores({ pod }: { pod: ObjectRef }) {
  const { answer, failure, isBusy } = useAnswer("scores", { pod });
  const found = answer?.answer?.[0];
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      {answer === undefined && isBusy && <p class="muted late">{words.WORKING}</p>}
      {answer?.refused && <Refusal findings={answer.refused} />}
      {found !== undefined && <ScoreTable scores={found} />}
    </>
  );
}

function ScoreTable({ scores }: { scores: PodScores }) {
  const { chosen, nodes, weights } = scores;
  const ranked = useMemo(
    () => [...nodes].sort((one, other) => Number(other.score) - Number(one.score) || compareNumbered(one.node, other.node)),
    [nodes],
  );
  const { shown, more } = useSome(ranked);
  const plugins = Object.keys(weights).sort();
  return (
    <>
      <p>
        <strong>
          <Ticked text={words.chosenBy(scores)} />
        </strong>
      </p>
      <p class="muted">{words.SCORES_SAY}</p>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">{words.NODE}</th>
            <th scope="col" class="number">
              {words.SCORE}
            </th>
            {plugins.map((plugin) => (
              <th scope="col" class="number">
                {plugin} <small>×{String(weights[plugin])}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ node, score, plugins: own }) => (
            <tr aria-current={node === chosen ? "true" : undefined}>
              <th scope="row">{node}</th>
              <td class="number">{String(score)}</td>
              {plugins.map((plugin) => (
                <td class={`number heat h${Math.ceil(Number(own[plugin] ?? 0) / 25)}`}>{String(own[plugin] ?? "")}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

/** Pods that have a node. */
function placedOf(report: { pods: readonly PodLike[] } | undefined): ObjectRef[] {
  return (report?.pods ?? [])
    .filter(({ node }) => node !== undefined)
    .map(({ namespace, name }) => ({ kind: "Pod", namespace, name }))
    .sort((one, other) => compareNumbered(keyOf(one), keyOf(other)));
}

/** Pods that wait, then claims without devices that no Pod uses. */
function subjectsOf(report: { pods: readonly PodLike[]; claims: readonly ClaimLike[] } | undefined): ObjectRef[] {
  const pods = (report?.pods ?? []).filter(({ node }) => node === undefined).map(({ namespace, name }) => ({ kind: "Pod", namespace, name }));
  const used = new Set(report?.pods.flatMap(({ namespace, claims }) => claims.map(({ claim }) => `${namespace}/${claim}`)));
  const claims = (report?.claims ?? [])
    .filter(({ namespace, name, allocated }) => !allocated && !used.has(`${namespace}/${name}`))
    .map(({ namespace, name }) => ({ kind: "ResourceClaim", namespace, name }));
  return [...pods, ...claims].sort((one, other) => compareNumbered(keyOf(one), keyOf(other)));
}

type PodLike = { namespace: string; name: string; node?: string; claims: readonly { claim?: string }[] };
type ClaimLike = { namespace: string; name: string; allocated: boolean };

function keyOf(subject: ObjectRef): string {
  return `${subject.kind} ${words.objectName(subject)}`;
}
