// The files: new ones, names, what is opened from the disk, and what was written before.

import { useEffect, useRef, useState } from "preact/hooks";

import { read } from "../reading";
import type { WindowProps } from "../header";
import { usePage } from "../page";
import { Dialog } from "../parts";
import type { Draft } from "../share/drafts";
import * as words from "../words";

export function Files({ onClose }: WindowProps) {
  const { state, now, act } = usePage();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = async ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const { files, refused } = await read(currentTarget.files ?? []);
    act.bring(files);
    if (refused.length > 0) act.notice(words.refused(refused));
    onClose();
  };
  return (
    <Dialog title={words.FILES} onClose={onClose}>
      <ul class="catalogue">
        {state.files.map(({ name }, index) => (
          <li>
            <input
              class="wide"
              aria-label={words.fileName(index)}
              value={name}
              onChange={({ currentTarget }) => {
                act.renameFile(index, currentTarget.value.trim());
                currentTarget.value = now().files[index]?.name ?? "";
              }}
            />
            <button type="button" aria-label={`${words.REMOVE} ${name}`} onClick={() => act.removeFile(index)}>
              {words.REMOVE}
            </button>
          </li>
        ))}
      </ul>
      {state.undos.at(-1)?.kind === "removed" && (
        <p class="row" role="status">
          {state.notice?.text}
          <button type="button" class="small" onClick={() => act.undo()}>
            {words.UNDO}
          </button>
        </p>
      )}
      <p class="row">
        <button type="button" onClick={() => act.addFiles([{ name: "new.yaml", text: "" }])}>
          {words.ADD_FILE}
        </button>
        <button type="button" onClick={() => files.current?.click()}>
          {words.OPEN_FILES}
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          {words.OPEN_FOLDER}
        </button>
        <button
          type="button"
          onClick={() => {
            act.open([{ name: "cluster.yaml", text: "" }], { name: words.EMPTY });
            onClose();
          }}
        >
          {words.START_EMPTY}
        </button>
        <input ref={files} class="hidden" tabIndex={-1} aria-label={words.OPEN_FILES} type="file" multiple onChange={take} />
        <input ref={folder} class="hidden" tabIndex={-1} aria-label={words.OPEN_FOLDER} type="file" {...{ webkitdirectory: true }} onChange={take} />
      </p>
      <p class="muted">{words.DROP_HINT}</p>
      <DraftList onClose={onClose} />
    </Dialog>
  );
}

/** What was written before, to be opened again. */
function DraftList({ onClose }: WindowProps) {
  const { state, act, drafts } = usePage();
  const [kept, setKept] = useState<readonly Draft[]>([]);
  const [removed, setRemoved] = useState<readonly string[]>([]);
  useEffect(() => void drafts.list().then(setKept), []);
  const others = kept.filter(({ id }) => id !== state.draft);
  const open = async ({ id, shared, opened }: Draft) => {
    act.open(shared.files, { ...shared, opened, draft: await drafts.own(id) });
    onClose();
  };
  const remove = ({ id }: Draft) => {
    setRemoved((before) => [...before, id]);
    void drafts.remove(id);
  };
  const putBack = (draft: Draft) => {
    setRemoved((before) => before.filter((id) => id !== draft.id));
    void drafts.put(draft);
  };
  return (
    <section aria-label={words.DRAFTS}>
      <h3>{words.DRAFTS}</h3>
      <p class="muted">{words.DRAFTS_SAY}</p>
      <p>
        <label>
          {words.DRAFT_NAME}{" "}
          <input value={state.name} placeholder={words.draftName(state)} onChange={({ currentTarget: { value } }) => act.setName(value.trim())} />
        </label>
      </p>
      <ul class="catalogue">
        {others.map((draft) => {
          const name = words.draftName(draft.shared);
          const isGone = removed.includes(draft.id);
          return (
            <li key={draft.id}>
              <button type="button" class="link" disabled={isGone} onClick={() => void open(draft)}>
                {name}
              </button>
              <span class="muted">
                {new Date(draft.at).toLocaleString()}{" "}
                <button
                  type="button"
                  class="small"
                  aria-label={`${isGone ? words.PUT_BACK : words.REMOVE} ${name}`}
                  onClick={() => (isGone ? putBack : remove)(draft)}
                >
                  {isGone ? words.PUT_BACK : words.REMOVE}
                </button>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
