// Words of Dynamic Resource Allocation, explained where they stand.

import { useUnique } from "./unique";

export const TERMS = {
  claim: "A ResourceClaim asks for devices, as a PersistentVolumeClaim asks for storage. Pods name it or a template for it; once it is allocated it holds its devices until it is deleted.",
  class: "A DeviceClass says which devices count as one kind, with CEL expressions over their attributes. Every request of a claim names a class.",
  slice: "A ResourceSlice lists devices that a driver offers, with attributes and capacities. The driver publishes and updates it.",
  pool: "Slices of one driver with the same pool name form a pool, mostly the devices of one node. A pool is used only when all its slices are there.",
  counter: "Partitions of one physical device draw on its counters, such as memory or engines. Once a counter is used up, no further partition of that device can be allocated.",
} as const;

export type TermName = keyof typeof TERMS;

/** A word that says what it means when it is pressed. */
export function Term({ name, children }: { name: TermName; children: string }) {
  const id = useUnique();
  return (
    <>
      <button type="button" class="term" {...{ popovertarget: id }}>
        {children}
      </button>
      <span class="meaning" id={id} {...{ popover: "auto" }}>
        {TERMS[name]}
      </span>
    </>
  );
}
