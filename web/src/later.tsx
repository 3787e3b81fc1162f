// Parts of the page that are loaded when they are first looked at.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import * as words from "./words";

export type Load = () => Promise<ComponentType>;

export function Later({ of }: { of: Load }) {
  const [View, setView] = useState<{ Component?: ComponentType; failure?: string }>({});
  useEffect(() => {
    let isWanted = true;
    of().then(
      (Component) => isWanted && setView({ Component }),
      () => isWanted && setView({ failure: words.NOT_LOADED }),
    );
    return () => {
      isWanted = false;
    };
  }, []);
  if (View.failure !== undefined) return <p class="notice error">{View.failure}</p>;
  return View.Component === undefined ? <p class="muted late">{words.LOADING}</p> : <View.Component />;
}
