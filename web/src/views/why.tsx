// Why something is Pending: the funnel of each request, each device with its reasons, and changes that help.

import type { Explanation, NodeDetail, RequestExplanation, Report, Suggestion } from "apportion";
import { useMemo, useState } from "preact/hooks";

import { Code } from "../code";
import { Dotted } from "../dotted";
import { joined } from "../files";
import { type ExplanationGroup, changes, funnel, grouped, placeOf, readText } from "../model/why";
import { Chooser, FailureBox, LineLink, Ticked, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import * as words from "../words";

/** A suggestion that was applied, and what the answer was before and is with it. */
interface Applied {
  text: string;
  undo: string;
  before: Report;
  after: Report;
}

const EVERYTHING = {};

export function WhyView() {
  const { answer, failure, isBusy } = useAnswer("why", EVERYTHING);
  const [applied, setApplied] = useState<Applied>();
  const { asked, explained, result } = usePage().state;
  // The headline is explained already: that stands here while changes that help are looked for.
  const first = answer === undefined && explained?.asked === asked ? explained?.explanation : undefined;
  const pods = result?.report.pods;
  const groups = useMemo(() => grouped(answer ?? (first === undefined ? [] : [first]), pods), [answer, first, pods]);
  const { shown, more } = useSome(groups);
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      {applied !== undefined && <Comparison applied={applied} onDone={() => setApplied(undefined)} />}
      {answer === undefined && isBusy && first === undefined && <p class="muted late">{words.WORKING}</p>}
      {answer?.length === 0 && <p class="notice">{words.NOTHING_PENDING}</p>}
      {shown.map((group) => (
        <Group key={`${group.first.subject.kind} ${words.objectName(group.first.subject)}`} group={group} onApplied={setApplied} />
      ))}
      {more}
      {first !== undefined && isBusy && (
        <p class="muted late" role="status">
          {words.MORE_FOLLOWS}
        </p>
      )}
    </>
  );
}

function Group({ group: { first, subjects }, onApplied }: { group: ExplanationGroup; onApplied: (applied: Applied) => void }) {
  const { act } = usePage();
  const names = words.some(subjects.map(words.objectName), 5).join(", ");
  const title = `${first.subject.kind} ${names}`;
  return (
    <section class="why" aria-label={title}>
      <h3>
        <button type="button" class="link" onClick={() => act.revealObject(first.subject)}>
          {title}
        </button>{" "}
        <span class="badge">{words.STATES[first.state]}</span>
      </h3>
      {first.plain !== undefined && (
        <p class="said">
          <strong>
            <Ticked text={first.plain} />
          </strong>
        </p>
      )}
      <p>
        <Ticked text={first.headline} />
      </p>
      <Stage explanation={first} />
      {first.requests.map((request) => (
        <Request request={request} names={first.requests.length > 1} />
      ))}
      <Conflict explanation={first} />
      <Suggestions explanation={first} onApplied={onApplied} />
      <DevicesOf explanation={first} />
    </section>
  );
}

function Stage({ explanation: { stage, headline } }: { explanation: Explanation }) {
  const { result } = usePage().state;
  // The headline is often the first of them.
  const told = stage.filter(({ message, hint }) => message !== headline || hint !== undefined);
  if (told.length === 0) return null;
  return (
    <ul class="plain">
      {told.map(({ message, hint, code }) => (
        <li>
          <div>
            {message !== headline && (
              <p>
                <Ticked text={message} /> <LineLink place={placeOf({ code, message }, result?.reasons ?? [])} /> <Code code={code} />
              </p>
            )}
            {hint !== undefined && (
              <p class="muted">
                <Ticked text={hint} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Request({ request, names }: { request: RequestExplanation; names: boolean }) {
  const steps = funnel(request);
  const widest = Math.max(1, ...steps.map(({ devices }) => devices));
  return (
    <table class="funnel">
      <caption>{words.request(request, names)}</caption>
      <thead>
        <tr>
          <th scope="col">{words.DEVICES}</th>
          <th scope="col" class="number">
            {words.LEFT}
          </th>
          <th scope="col">
            <span class="hidden">{words.SHARE}</span>
          </th>
          <th scope="col">{words.LOST}</th>
        </tr>
      </thead>
      <tbody>
        {steps.map(({ name, devices, lost }) => (
          <tr class={devices === 0 ? "none" : ""}>
            <th scope="row">{name}</th>
            <td class="number">{devices}</td>
            <td class="meter" aria-hidden="true">
              <svg viewBox="0 0 100 8" preserveAspectRatio="none">
                <rect class="bar" width="100" height="8" />
                <rect class="value" width={(devices / widest) * 100} height="8" />
              </svg>
            </td>
            <td>
              {lost.map(({ devices, text }) => (
                <p>
                  −{devices}: <Ticked text={text} />
                </p>
              ))}
            </td>
          </tr>
        ))}
        <tr class="needed">
          <th scope="row">{words.NEEDED}</th>
          <td class="number">{request.isAll ? words.ALL : Number(request.needed)}</td>
          <td />
          <td class="muted">{words.best(Number(request.best))}</td>
        </tr>
        {request.reads.map((read) => (
          <tr>
            <td colSpan={4} class="muted">
              <Ticked text={readText(read)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Conflict({ explanation: { conflict } }: { explanation: Explanation }) {
  if (conflict === undefined || conflict.length === 0) return null;
  return (
    <>
      <h4>{words.CONFLICT}</h4>
      <ul class="dots">
        {conflict.map(({ text }) => (
          <li>
            <Ticked text={text} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Suggestions({ explanation, onApplied }: { explanation: Explanation; onApplied: (applied: Applied) => void }) {
  const { state, act, ask } = usePage();
  const [isTrying, setIsTrying] = useState(false);
  const { suggestions = [] } = explanation;
  if (suggestions.length === 0) return null;
  const apply = async ({ text, manifests }: Suggestion) => {
    const { asked, result } = state;
    if (asked === undefined || result === undefined || manifests === undefined) return;
    if (joined(state.files) !== asked.text) return act.notice(words.CHANGED_MEANWHILE);
    setIsTrying(true);
    const outcome = await ask("attempt", { question: asked, manifests });
    setIsTrying(false);
    if (outcome.kind === "failed") return act.notice(outcome.message);
    if (outcome.kind === "overtaken") return;
    const { answer } = outcome;
    if (answer.text === undefined) return act.notice(words.CANNOT_REWRITE);
    if (!(await act.propose(text, answer.text, answer.documents))) return;
    onApplied({ text, undo: asked.text, before: result.report, after: answer.report });
  };
  return (
    <>
      <h4>{words.SUGGESTIONS}</h4>
      <ol class="suggestions">
        {suggestions.map((suggestion) => (
          <li>
            <button type="button" disabled={isTrying || (suggestion.manifests ?? []).length === 0} onClick={() => void apply(suggestion)}>
              {words.APPLY}
            </button>
            <p>
              <Ticked text={suggestion.text} />
              {suggestion.node !== undefined && <span class="muted"> → {suggestion.node}</span>}
              {(suggestion.manifests ?? []).length === 0 && <span class="muted"> ({words.BY_HAND})</span>}
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The new answer beside the old. */
function Comparison({ applied, onDone }: { applied: Applied; onDone: () => void }) {
  const { state, act } = usePage();
  const differing = changes(applied.before, applied.after);
  const undo = () => {
    if (act.rewrite(applied.undo, undefined)) onDone();
  };
  return (
    <section class="applied" aria-label={words.APPLIED} role="status">
      <header>
        <h3>
          {words.APPLIED}: <Ticked text={applied.text} />
        </h3>
        <button type="button" class="small" onClick={undo} disabled={state.busy}>
          {words.UNDO}
        </button>
        <button type="button" class="small" onClick={onDone}>
          {words.CLOSE}
        </button>
      </header>
      {differing.length === 0 ? (
        <p class="muted">{words.NO_DIFFERENCE}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{words.WHAT}</th>
              <th scope="col">{words.BEFORE}</th>
              <th scope="col">{words.AFTER}</th>
            </tr>
          </thead>
          <tbody>
            {differing.slice(0, 30).map(({ kind, name, before, after }) => (
              <tr>
                <th scope="row">
                  {kind} {name}
                </th>
                <td class="muted">{before}</td>
                <td>{after}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {differing.length > 30 && <p class="muted">{words.some(differing.map(({ name }) => name), 30).at(-1)}</p>}
    </section>
  );
}

/** Every device of one node with all its reasons, when somebody wants to know. */
function DevicesOf({ explanation }: { explanation: Explanation }) {
  const { state } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const nodes = state.result?.report.nodes ?? [];
  const [node, setNode] = useState(explanation.closest?.name);
  const chosen = node ?? nodes[0]?.name;
  const { answer } = useAnswer("why", isOpen && chosen !== undefined ? { subject: explanation.subject, nodes: [chosen] } : undefined);
  if (explanation.requests.length === 0 || chosen === undefined) return null;
  const detail = answer?.[0]?.details?.find(({ name }) => name === chosen);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{words.EACH_DEVICE}</summary>
      {isOpen && (
        <p>
          <label>
            {words.NODE} <Chooser options={nodes.map(({ name }) => ({ value: name, label: name }))} value={chosen} onChoose={setNode} />
          </label>
        </p>
      )}
      {detail !== undefined && <Details detail={detail} />}
    </details>
  );
}

function Details({ detail }: { detail: NodeDetail }) {
  const { act } = usePage();
  const rows = detail.requests.flatMap(({ request, devices }) => devices.map((device) => ({ request, ...device })));
  const { shown, more } = useSome(rows);
  return (
    <>
      {detail.pools.map((pool) => (
        <p class="muted">
          <Ticked text={pool} />
        </p>
      ))}
      <table>
        <thead>
          <tr>
            <th scope="col">{words.REQUEST}</th>
            <th scope="col">{words.DEVICE}</th>
            <th scope="col">{words.AGAINST}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ request, device, reasons }) => (
            <tr>
              <td>{request}</td>
              <th scope="row">
                <button type="button" class="link" onClick={() => act.pick({ kind: "device", key: `${device.driver}/${device.pool}/${device.device}` })}>
                  {device.device}
                </button>
                <small>
                  <Dotted name={device.driver} />
                </small>
              </th>
              <td>
                {reasons.length === 0 && words.USABLE}
                {reasons.map(({ text }) => (
                  <p>
                    <Ticked text={text} />
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}
