// The files: new ones, names, and what is opened from the disk.

import { useRef } from "preact/hooks";

import { read } from "../dropping";
import type { WindowProps } from "../header";
import { usePage } from "../page";
import { Dialog } from "../parts";
import * as words from "../words";

export function Files({ onClose }: WindowProps) {
  const { state, act } = usePage();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = async ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const { files, refused } = await read(currentTarget.files ?? []);
    act.addFiles(files);
    if (refused.length > 0) act.notice(words.refused(refused));
    onClose();
  };
  return (
    <Dialog title={words.FILES} onClose={onClose}>
      <ul class="catalogue">
        {state.files.map(({ name }, index) => (
          <li key={name}>
            <input
              class="wide"
              aria-label={words.fileName(index)}
              value={name}
              onChange={({ currentTarget: { value } }) => act.renameFile(index, value.trim())}
            />
            <button type="button" aria-label={`${words.REMOVE} ${name}`} onClick={() => act.removeFile(index)}>
              {words.REMOVE}
            </button>
          </li>
        ))}
      </ul>
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
            act.open([{ name: "cluster.yaml", text: "" }]);
            onClose();
          }}
        >
          {words.START_EMPTY}
        </button>
        <input ref={files} class="hidden" tabIndex={-1} aria-label={words.OPEN_FILES} type="file" multiple onChange={take} />
        <input ref={folder} class="hidden" tabIndex={-1} aria-label={words.OPEN_FOLDER} type="file" {...{ webkitdirectory: true }} onChange={take} />
      </p>
      <p class="muted">{words.DROP_HINT}</p>
    </Dialog>
  );
}
