// What the editor knows about the text beside its letters: names to complete, and where a name leads.

import type { DeviceEntry, Inventory } from "../model/inventory";
import { compareNumbered } from "../model/order";
import type { DocumentEntry } from "../protocol";

/** Names that the text has, by where they are written. */
export interface Knowledge {
  classes: readonly string[];
  claims: readonly string[];
  templates: readonly string[];
  /** Attributes and capacities that devices have, by driver or domain: `memory` of `gpu.example.com`. */
  attributes: ReadonlyMap<string, readonly string[]>;
  capacities: ReadonlyMap<string, readonly string[]>;
  /** Values that devices have, a few, by kind, domain and name: `attributes gpu.example.com/model`. */
  values: ReadonlyMap<string, readonly string[]>;
  drivers: readonly string[];
}

export const NOTHING_KNOWN: Knowledge = { classes: [], claims: [], templates: [], attributes: new Map(), capacities: new Map(), values: new Map(), drivers: [] };

/** Objects that a field names, by the name of the field. */
const LEADS: Readonly<Record<string, readonly string[]>> = {
  deviceClassName: ["DeviceClass"],
  resourceClaimName: ["ResourceClaim"],
  resourceClaimTemplateName: ["ResourceClaimTemplate"],
  podGroupName: ["PodGroup"],
  nodeName: ["Node"],
};

/** Values of closed sets, by the name of the field. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  allocationMode: ["ExactCount", "All"],
  effect: ["NoSchedule", "NoExecute", "None"],
  operator: ["Exists", "Equal", "In", "NotIn", "DoesNotExist"],
  restartPolicy: ["Always", "OnFailure", "Never"],
  preemptionPolicy: ["PreemptLowerPriority", "Never"],
  completionMode: ["NonIndexed", "Indexed"],
  whenUnsatisfiable: ["DoNotSchedule", "ScheduleAnyway"],
};

export function knowledgeOf(inventory: Inventory | undefined, documents: readonly DocumentEntry[]): Knowledge {
  const named = (kind: string) => sorted(documents.filter(({ object }) => object.kind === kind).map(({ object }) => object.name));
  const devices = (inventory?.pools ?? []).flatMap(({ driver, devices }) => devices.map((device) => ({ driver, device })));
  const byDomain = (names: (device: (typeof devices)[number]["device"]) => readonly (readonly [string, string])[]) => {
    const found = new Map<string, Set<string>>();
    for (const { driver, device } of devices) {
      for (const [name] of names(device)) {
        const [domain, own] = qualified(driver, name);
        found.set(domain, (found.get(domain) ?? new Set()).add(own));
      }
    }
    return new Map([...found].map(([domain, names]) => [domain, sorted(names)]));
  };
  return {
    classes: inventory?.classes ?? [],
    claims: named("ResourceClaim"),
    templates: named("ResourceClaimTemplate"),
    attributes: byDomain(({ attributes }) => attributes),
    capacities: byDomain(({ capacity }) => capacity),
    values: valuesIn(devices),
    drivers: sorted((inventory?.pools ?? []).map(({ driver }) => driver)),
  };
}

/** As many values of an attribute are told. */
const MOST_VALUES = 12;

function valuesIn(devices: readonly { driver: string; device: DeviceEntry }[]): Knowledge["values"] {
  const found = new Map<string, string[]>();
  for (const { driver, device } of devices) {
    for (const [which, pairs] of [["attributes", device.attributes], ["capacity", device.capacity]] as const) {
      for (const [name, value] of pairs) {
        const key = `${which} ${qualified(driver, name).join("/")}`;
        const values = found.get(key);
        if (values === undefined) found.set(key, [value]);
        else if (values.length < MOST_VALUES && !values.includes(value)) values.push(value);
      }
    }
  }
  return found;
}

/** Domain and name of an attribute; without a domain it is the driver's. */
function qualified(driver: string, name: string): [string, string] {
  const slash = name.indexOf("/");
  return slash === -1 ? [driver, name] : [name.slice(0, slash), name.slice(slash + 1)];
}

/** The attribute or capacity at the end of a piece of a line, and values that devices have there. */
export function seenValues(line: string, { values }: Pick<Knowledge, "values">): { from: number; name: string; values: readonly string[] } | undefined {
  const [whole, which = "", domain = "", name = ""] = /device\.(attributes|capacity)\[['"]([^'"\]]+)['"]\]\.([\w-]+)$/.exec(line) ?? [];
  if (whole === undefined) return undefined;
  return { from: line.length - name.length, name: `${domain}/${name}`, values: values.get(`${which} ${domain}/${name}`) ?? [] };
}

/** What can stand at the end of a piece of a line, and how much of it is there already. */
export function completions(line: string, known: Knowledge): { from: number; options: readonly string[] } | undefined {
  const ofDomain = /device\.(attributes|capacity)\[['"]([^'"\]]*)['"]\]\.([\w-]*)$/.exec(line);
  if (ofDomain !== null) {
    const [, which, domain = "", begun = ""] = ofDomain;
    return found(line, begun, (which === "attributes" ? known.attributes : known.capacities).get(domain));
  }
  const domain = /device\.(attributes|capacity)\[['"]([^'"\]]*)$/.exec(line);
  if (domain !== null) return found(line, domain[2] ?? "", [...(domain[1] === "attributes" ? known.attributes : known.capacities).keys()]);
  const compared = /device\.driver\s*==\s*['"]([^'"]*)$/.exec(line);
  if (compared !== null) return found(line, compared[1] ?? "", known.drivers);
  const value = /(?:^|[\s{,-])(\w+):\s+["']?([^\s"',{}]*)$/.exec(line);
  if (value === null) return undefined;
  const [, field = "", begun = ""] = value;
  return found(line, begun, valuesOf(field, known));
}

function valuesOf(field: string, { classes, claims, templates, drivers }: Knowledge): readonly string[] | undefined {
  switch (field) {
    case "deviceClassName":
      return classes;
    case "resourceClaimName":
      return claims;
    case "resourceClaimTemplateName":
      return templates;
    case "driver":
      return drivers;
    default:
      return Object.hasOwn(VALUES, field) ? VALUES[field] : undefined;
  }
}

function found(line: string, begun: string, options: readonly string[] | undefined) {
  return options === undefined || options.length === 0 ? undefined : { from: line.length - begun.length, options };
}

/** The object that the name at a column of a line leads to. */
export function leadsTo(line: string, column: number): { kinds: readonly string[]; name: string } | undefined {
  for (const match of line.matchAll(/(\w+):\s+["']?([\w.-]+)/g)) {
    const [whole, field = "", name = ""] = match;
    if (column < match.index || column > match.index + whole.length || !Object.hasOwn(LEADS, field)) continue;
    return { kinds: LEADS[field] ?? [], name };
  }
  return undefined;
}

function sorted(names: Iterable<string>): string[] {
  return [...new Set(names)].sort(compareNumbered);
}
