// Ids of elements that others refer to. Preact's own begin anew with each drawing of the page.

import { useState } from "preact/hooks";

let last = 0;

export function useUnique(): string {
  const [id] = useState(() => `unique-${(last += 1)}`);
  return id;
}
