// What to do with an empty page.

import { usePage } from "../page";
import { Copyable } from "../parts";
import { TERMS, Term, type TermName } from "../term";
import { DUMP_ALL } from "../windows/dump";
import * as words from "./words";

export function Empty() {
  const { act } = usePage();
  return (
    <div class="notice empty">
      <p>{words.EMPTY_SAYS}</p>
      <p class="row">
        <button type="button" class="main" onClick={() => act.openWindow("examples")}>
          {words.EXAMPLES}
        </button>
        <button type="button" onClick={() => act.openWindow("hardware")}>
          {words.HARDWARE_TITLE}
        </button>
        <button type="button" onClick={() => act.openWindow("files")}>
          {words.OPEN_FILES}
        </button>
      </p>
      <p>{words.DUMP_FIRST}</p>
      <Copyable text={DUMP_ALL} label={words.DUMP_EVERYTHING} />
      <p class="muted">
        {words.TERMS_SAY}{" "}
        {(Object.keys(TERMS) as TermName[]).map((name) => (
          <>
            <Term name={name}>{name}</Term>{" "}
          </>
        ))}
      </p>
    </div>
  );
}
