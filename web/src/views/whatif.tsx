// What would be if: nodes and devices are picked in the picture, something is done to them, and both pictures stand side by side.

import { useMemo, useState } from "preact/hooks";

import { type Model, modelOf, nodesOf } from "../model/model";
import { type Deed, nextName, withDeed } from "../model/suppose";
import { Chooser, FailureBox, Refusal } from "../parts";
import { useAnswer, usePage } from "../page";
import { Picture } from "../picture/picture";
import { Differences } from "./difference";
import * as words from "./words";

/** What is chosen in the picture. */
type Chosen = { kind: "node"; name: string } | { kind: "device"; key: string };

const TAINTS = ["example.com/broken:NoSchedule", "example.com/broken:NoExecute"] as const;

export function WhatIfView() {
  const { state, act } = usePage();
  const { inventory, result, deeds } = state;
  const { answer, failure, isBusy } = useAnswer("whatIf", deeds.length === 0 ? undefined : { deeds });
  const [chosen, setChosen] = useState<Chosen>();
  const found = deeds.length === 0 ? undefined : answer?.answer;
  // One colour for one workload on both sides.
  const reports = useMemo(() => [result?.report, found?.report].filter((report) => report !== undefined), [result, found]);
  const before = useMemo(() => inventory && modelOf(inventory, result?.report, reports), [inventory, result, reports]);
  const after = useMemo(() => found && modelOf(found.inventory, found.report, reports), [found, reports]);
  if (before === undefined || before.devices === 0) return <p class="notice">{words.NOTHING}</p>;
  const suppose = (deed: Deed) => act.suppose(withDeed(deeds, deed));
  return (
    <>
      <p class="muted">{words.SUPPOSE_SAYS}</p>
      <Choice model={before} chosen={chosen} onChoose={setChosen} onDo={suppose} />
      <DeedList deeds={deeds} onChange={act.suppose} />
      {failure !== undefined && <FailureBox message={failure} />}
      {isBusy && deeds.length > 0 && found === undefined && <p class="muted late">{words.WORKING}</p>}
      {answer?.refused && deeds.length > 0 && <Refusal findings={answer.refused} />}
      {found !== undefined && <Differences difference={found.difference} />}
      <div class={after === undefined ? "" : "beside"}>
        <Side title={words.BEFORE_PICTURE} model={before} chosen={chosen} onChoose={setChosen} />
        {after !== undefined && <Side title={words.AFTER_PICTURE} model={after} chosen={chosen} onChoose={setChosen} />}
      </div>
    </>
  );
}

function Side({ title, model, chosen, onChoose }: { title: string; model: Model; chosen: Chosen | undefined; onChoose: (chosen: Chosen) => void }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <Picture
        model={model}
        isPicked={(key) => chosen?.kind === "device" && chosen.key === key}
        onPick={(key) => onChoose({ kind: "device", key })}
        pickedNode={chosen?.kind === "node" ? chosen.name : undefined}
        onNode={(name) => onChoose({ kind: "node", name })}
      />
    </section>
  );
}

/** What is chosen, by the picture or by name, and what can be done to it. */
function Choice({ model, chosen, onChoose, onDo }: { model: Model; chosen: Chosen | undefined; onChoose: (chosen: Chosen) => void; onDo: (deed: Deed) => void }) {
  const [taint, setTaint] = useState<string>(TAINTS[0]);
  const nodes = nodesOf(model).map(({ title }) => title);
  const node = chosen?.kind === "node" ? chosen.name : "";
  return (
    <div class="bar" role="group" aria-label={words.CHOSEN}>
      <label>
        {words.NODE}{" "}
        <Chooser options={nodes.map((name) => ({ value: name, label: name }))} value={node} none="" onChoose={(name) => name !== "" && onChoose({ kind: "node", name })} />
      </label>
      {chosen?.kind === "node" && (
        <>
          <button type="button" onClick={() => onDo({ does: "cordon", node })}>
            {words.CORDON}
          </button>
          <button type="button" onClick={() => onDo({ does: "remove", node })}>
            {words.REMOVE_NODE}
          </button>
          <AddNode node={node} nodes={nodes} onDo={onDo} />
        </>
      )}
      {chosen?.kind === "device" && <span class="code">{chosen.key}</span>}
      {chosen !== undefined && (
        <>
          <input class="taint" aria-label={words.TAINT} list="taints" value={taint} onInput={({ currentTarget: { value } }) => setTaint(value)} />
          <datalist id="taints">
            {TAINTS.map((taint) => (
              <option value={taint} />
            ))}
          </datalist>
          <button
            type="button"
            disabled={taint.trim() === ""}
            onClick={() => onDo(chosen.kind === "node" ? { does: "taintNode", node, taint: taint.trim() } : { does: "taint", devices: chosen.key, taint: taint.trim() })}
          >
            {chosen.kind === "node" ? words.TAINT_NODE : words.TAINT}
          </button>
        </>
      )}
    </div>
  );
}

function AddNode({ node, nodes, onDo }: { node: string; nodes: readonly string[]; onDo: (deed: Deed) => void }) {
  const { state } = usePage();
  const made = state.deeds.filter((deed) => deed.does === "add");
  // What is like an added node is like the node of the text that it was made from.
  const model = made.find(({ name }) => name === node)?.node ?? node;
  return (
    <button type="button" onClick={() => onDo({ does: "add", node: model, name: nextName(node, [...nodes, ...made.map(({ name }) => name)]) })}>
      {words.ADD_NODE}
    </button>
  );
}

function DeedList({ deeds, onChange }: { deeds: readonly Deed[]; onChange: (deeds: readonly Deed[]) => void }) {
  if (deeds.length === 0) return null;
  return (
    <section class="applied" aria-label={words.DEEDS_LABEL}>
      <header>
        <h3>{words.DEEDS_LABEL}</h3>
        <button type="button" class="small" onClick={() => onChange([])}>
          {words.START_OVER}
        </button>
      </header>
      <ul class="catalogue">
        {deeds.map((deed, index) => (
          <li>
            <span class="wide">{words.deed(deed)}</span>
            <button type="button" class="small" aria-label={`${words.TAKE_BACK}: ${words.deed(deed)}`} onClick={() => onChange(deeds.toSpliced(index, 1))}>
              {words.TAKE_BACK}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
