// Five steps through the page, each at the part that it speaks of.

import { useEffect, useRef } from "preact/hooks";

import { usePage } from "../page";
import type { Side, View } from "../state";
import * as words from "./words";

const STEPS: readonly { at: string; view?: View; side: Side; title: string; says: string }[] = [
  { at: ".pane.text", side: "text", title: "Your text", says: "Manifests in YAML or JSON: Pods, claims, classes, slices. Paste yours, or drop files anywhere. Nothing leaves the page." },
  { at: ".answer", view: "result", side: "answer", title: "The answer", says: "One sentence says whether everything can start, and what keeps the first Pod waiting. It follows every change of the text." },
  { at: ".picture", view: "result", side: "answer", title: "The picture", says: "Each device of each node, in the colour of the workload that holds it. Press one to see its attributes and its lines in the text." },
  { at: "#tab-why", view: "why", side: "answer", title: "Why", says: "How many devices each test leaves over, and changes that would help, the smallest first. Apply tries one of them." },
  { at: ".tools", view: "result", side: "answer", title: "Go on", says: "Open an example, add hardware that you do not have, or share what you see as a link." },
];

export function Tour() {
  const { state, act } = usePage();
  const { tour = 0 } = state;
  const step = STEPS[tour];
  const next = useRef<HTMLButtonElement>(null);
  // Who takes the tour by keyboard goes on with one key, and is back at its start when it ends.
  useEffect(() => {
    const from = document.activeElement;
    next.current?.focus();
    return () => from instanceof HTMLElement && from.focus();
  }, []);
  useEffect(() => {
    if (step === undefined) return;
    act.turn(step.side);
    if (step.view !== undefined) act.show(step.view);
    let target: Element | null = null;
    // What is turned to is drawn first.
    const timer = setTimeout(() => {
      target = document.querySelector(step.at);
      target?.classList.add("toured");
      target?.scrollIntoView({ block: "nearest" });
    }, 60);
    return () => {
      clearTimeout(timer);
      target?.classList.remove("toured");
    };
  }, [tour]);
  if (step === undefined) return null;
  return (
    <aside class="tour" aria-label={words.TOUR_LABEL}>
      <p role="status">
        <strong>{words.tourStep(tour + 1, STEPS.length, step.title)}</strong> {step.says}
      </p>
      <p class="row">
        {tour > 0 && (
          <button type="button" onClick={() => act.goOn(tour - 1)}>
            {words.BACK}
          </button>
        )}
        <button type="button" class="main" ref={next} onClick={() => act.goOn(tour + 1 < STEPS.length ? tour + 1 : undefined)}>
          {tour + 1 < STEPS.length ? words.NEXT : words.DONE}
        </button>
        {tour + 1 < STEPS.length && (
          <button type="button" onClick={() => act.goOn(undefined)}>
            {words.CLOSE}
          </button>
        )}
      </p>
    </aside>
  );
}
