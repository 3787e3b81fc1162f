// A read-only picture for other pages: what a link says, what becomes of it, and the way to the page where it can be changed.

import { render } from "preact";

import { Client } from "../client";
import { type Headline, firstPending, headlineOf, plainOf } from "../model/headline";
import type { Inventory } from "../model/inventory";
import { type Model, modelOf } from "../model/model";
import { Picture } from "../picture/picture";
import { THEMES, applyTheme } from "../preferences";
import { type Shared, questionOf, initial } from "../state";
import { readFragment } from "../share/link";
import { Ticked } from "../ticked";
import { showHidden } from "../visible";
import * as words from "../words";

interface View {
  said?: Headline | undefined;
  model?: Model | undefined;
  shared?: Shared | undefined;
  failure?: string | undefined;
}

const root = document.getElementById("embed");
const client = new Client(() => new Worker(new URL("../worker.ts", import.meta.url), { type: "module" }));
let view: View = {};

function show(more: View): void {
  view = { ...view, ...more };
  if (root !== null) render(<Embedded {...view} />, root);
}

function Embedded({ said, model, shared, failure }: View) {
  return (
    <>
      {failure !== undefined && <p role="alert">{failure}</p>}
      <h1 class={said?.isGood === false ? "bad" : ""}>
        <Ticked text={said?.text ?? words.TITLE} />
      </h1>
      {model !== undefined && <Picture model={model} isPicked={() => false} onPick={() => undefined} />}
      {shared?.files.map(({ name, text }) => (
        <details open={wantsText()}>
          <summary>{name}</summary>
          <pre tabIndex={0}>{text}</pre>
        </details>
      ))}
      <p class="foot">
        <a href={`./${location.hash}`} target="_blank" rel="noopener">
          {words.OPEN_IN}
        </a>
        <span>{words.TAGLINE}</span>
      </p>
    </>
  );
}

function wantsText(): boolean {
  return new URLSearchParams(location.search).get("text") === "open";
}

async function start(): Promise<void> {
  const link = await readFragment(location.hash);
  if (typeof link !== "object") return show({ failure: words.badEmbed(link ?? words.NO_LINK) });
  // Nobody can be asked here whether a text may be loaded.
  if (!("shared" in link)) return show({ failure: words.badEmbed(words.NO_LINK) });
  const { shared } = link;
  show({ shared });
  const question = questionOf({ ...initial(shared.files), ...shared });
  let inventory: Inventory | undefined;
  const ran = await client.ask("run", { question }, (read) => {
    inventory = read;
    show({ model: modelOf(read, undefined) });
  });
  if (ran.kind !== "done") return show({ failure: ran.kind === "failed" ? ran.message : words.FAILED });
  const { answer } = ran;
  const subject = firstPending(answer);
  const explained = subject && (await client.ask("headline", { question, subject }));
  const [first] = explained?.kind === "done" ? explained.answer : [];
  show({ said: headlineOf(answer, first && plainOf(first), answer.findings), model: inventory && modelOf(inventory, answer.report) });
}

showHidden();
client.prepare();
const theme = new URLSearchParams(location.search).get("theme");
applyTheme(THEMES.find((known) => known === theme) ?? "system");
root?.replaceChildren();
addEventListener("hashchange", () => location.reload());
void start();
