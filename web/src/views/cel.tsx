// The CEL lab: an expression against the devices there are, with value, type, cost and the values of its parts.

import type { ExpressionAnswer } from "apportion";
import { useMemo, useState } from "preact/hooks";

import { Dotted } from "../dotted";
import { FailureBox, useSome } from "../parts";
import { useAnswer, usePage } from "../page";
import { Hidden } from "./hidden";
import * as words from "./words";

const START = "device.driver == ";

export function CelView() {
  const { state, act } = usePage();
  const devices = useMemo(() => devicesOf(state), [state.inventory]);
  const first = devices[0]?.split("/")[0];
  const expression = state.expression ?? (first === undefined ? "" : `${START}${JSON.stringify(first)}`);
  const isEmpty = expression.trim() === "";
  const asked = useAnswer("cel", isEmpty ? undefined : { expression, device: state.device });
  const { failure } = asked;
  const answer = isEmpty ? undefined : asked.answer;
  const isBusy = asked.isBusy && !isEmpty;
  return (
    <>
      {failure !== undefined && <FailureBox message={failure} />}
      <label class="field">
        {words.EXPRESSION}
        <textarea
          class="code"
          rows={3}
          spellcheck={false}
          value={expression}
          placeholder={words.EXPRESSION_HINT}
          onInput={({ currentTarget: { value } }) => act.setExpression(value)}
        />
      </label>
      <Hidden text={expression} />
      <div class="row">
        <label>
          {words.DEVICE}{" "}
          <select value={state.device} onChange={({ currentTarget: { value } }) => act.setDevice(value)}>
            <option value="">{words.ALL}</option>
            {devices.slice(0, 2000).map((key) => (
              <option value={key}>{key}</option>
            ))}
          </select>
        </label>
        <Selectors onChoose={act.setExpression} />
        {isBusy && (
          <span class="busy" role="status">
            {words.WORKING}
          </span>
        )}
      </div>
      <div class={isBusy ? "outdated" : ""} aria-busy={isBusy}>
        {answer?.status === "refused" && (
          <pre class="notice error code" role="alert">
            {answer.message}
          </pre>
        )}
        {answer?.status === "evaluated" && <Answers answers={answer.answers} />}
      </div>
    </>
  );
}

function devicesOf({ inventory }: ReturnType<typeof usePage>["state"]): string[] {
  return (inventory?.pools ?? []).flatMap(({ driver, name, devices }) => devices.map((device) => `${driver}/${name}/${device.name}`));
}

/** Selectors that the manifests use, to begin with. */
function Selectors({ onChoose }: { onChoose: (expression: string) => void }) {
  const { state } = usePage();
  const expressions = state.inventory?.selectors ?? [];
  if (expressions.length === 0) return null;
  return (
    <label>
      {words.SELECTORS}{" "}
      <select
        value=""
        onChange={({ currentTarget }) => {
          const chosen = expressions[Number(currentTarget.value)];
          currentTarget.value = "";
          if (chosen !== undefined) onChoose(chosen);
        }}
      >
        <option value="">{words.plural(expressions.length, "selector")}</option>
        {expressions.map((expression, index) => (
          <option value={index}>{expression}</option>
        ))}
      </select>
    </label>
  );
}

function Answers({ answers }: { answers: readonly ExpressionAnswer[] }) {
  const { act } = usePage();
  const [chosen, setChosen] = useState("");
  const { shown, more } = useSome(answers);
  const key = ({ device: { driver, pool, device } }: ExpressionAnswer) => `${driver}/${pool}/${device}`;
  const current = answers.find((answer) => key(answer) === chosen) ?? answers[0];
  if (current === undefined) return <p class="notice">{words.NO_SUCH_DEVICE}</p>;
  return (
    <>
      <p role="status">{words.values(answers.map(({ parts }) => parts[0]?.value ?? ""))}</p>
      <section class="parts" aria-label={words.PARTS}>
        <h3>
          {words.PARTS}{" "}
          <button type="button" class="link" onClick={() => act.pick({ kind: "device", key: key(current) })}>
            {key(current)}
          </button>
        </h3>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.PART}</th>
              <th scope="col">{words.VALUE}</th>
              <th scope="col">{words.TYPE}</th>
            </tr>
          </thead>
          <tbody>
            {current.parts.map(({ depth, text, value, resultType, isError, isCause }, index) => (
              <tr class={isError ? "error" : ""}>
                <td>
                  <span class={`depth d${Math.min(8, Number(depth))}`}>{text}</span>
                </td>
                <td>
                  {isError ? `✕ ${value}` : value}
                  {isCause && index > 0 && <small>{words.CAUSE}</small>}
                </td>
                <td class="muted">{resultType}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="muted">{words.cost(current.cost, current.maxCost)}</p>
      </section>
      <table class="values">
        <caption>{words.DEVICES}</caption>
        <thead>
          <tr>
            <th scope="col">{words.DEVICE}</th>
            <th scope="col">{words.VALUE}</th>
            <th scope="col" class="number">
              {words.COST}
            </th>
            <th scope="col">{words.READS}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((answer) => {
            const [whole] = answer.parts;
            return (
              <tr aria-current={answer === current ? "true" : undefined}>
                <th scope="row">
                  <button type="button" class="link" onClick={() => setChosen(key(answer))}>
                    {answer.device.device}
                  </button>
                  <small>
                    <Dotted name={answer.device.driver} />
                  </small>
                  <small>{answer.device.pool}</small>
                </th>
                <td>
                  <span class={words.isYes(whole?.value) ? "yes" : "no"}>{words.verdict(whole?.value, whole?.isError === true)}</span>
                </td>
                <td class="number">{answer.cost === undefined ? "" : String(answer.cost)}</td>
                <td class="muted code">{answer.reads.map(({ name, value }) => `${name} = ${value ?? words.NOT_THERE}`).join(", ")}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {more}
    </>
  );
}
