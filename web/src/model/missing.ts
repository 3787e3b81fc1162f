// What is asked for and not there.

import type { Inventory } from "./inventory";

/** Classes and extended resources that are wanted while their class is missing, or while there is no device at all. */
export function missing({ wanted, classes, served, pools }: Pick<Inventory, "wanted" | "classes" | "served" | "pools">): string[] {
  return wanted.filter((name) => pools.length === 0 || !(classes.includes(name) || served.includes(name)));
}
