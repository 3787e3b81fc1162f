// A finding's code, with what it means when it is pressed.

import { useState } from "preact/hooks";

import { Ticked } from "./ticked";
import { useUnique } from "./unique";
import * as words from "./words";

export function Code({ code }: { code: string }) {
  const id = useUnique();
  const [says, setSays] = useState<string>(words.LOADING);
  const explain = () => {
    void import("./model/codes").then(async ({ meanings }) => setSays((await meanings()).get(code) ?? words.NOT_LOADED)).catch(() => setSays(words.NOT_LOADED));
  };
  return (
    <>
      <button type="button" class="term muted code" onClick={explain} {...{ popovertarget: id }}>
        {code}
      </button>
      <span class="meaning" id={id} {...{ popover: "auto" }}>
        <strong class="code">{code}</strong> <Ticked text={says} />
      </span>
    </>
  );
}
