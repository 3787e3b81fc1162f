// The devices that the filter leaves.

import { useMemo } from "preact/hooks";

import { type Model, type Tile, filtered, finder } from "../model/model";
import { useAnswer, usePage } from "../page";

export function useShown(model: Model): Model {
  const { filter } = usePage().state;
  const { deviceClass } = filter;
  const members = useAnswer("members", deviceClass === "" ? undefined : { deviceClass });
  return useMemo(() => {
    if (filter.text + filter.claim + deviceClass === "") return model;
    const isFound = finder(filter.text);
    const selected = deviceClass === "" ? undefined : new Set(members.answer);
    const ofClaim = ({ holders }: Tile) => filter.claim === "" || holders.some(({ claim }) => claim === filter.claim);
    return filtered(model, (tile) => isFound(tile) && ofClaim(tile) && (selected?.has(tile.key) ?? true));
  }, [model, filter, members.answer]);
}
