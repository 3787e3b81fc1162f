// The examples that can be opened: manifests of the folder `examples`, and what each of them shows.

import { belowExamples, firstTexts, sourceFiles } from "../example";
import type { SourceFile } from "../files";
import type { View } from "../state";

export interface Example {
  /** What it is called in a link, `#example=mig`; published, never given to another one. */
  name: string;
  title: string;
  shows: string;
  /** Files and folders below `examples`; those of a folder in the order of their names. */
  files: readonly string[];
  /** A script below `examples`, for what happens in time. */
  script?: string;
  /** The view that shows it best, where it is not the result. */
  view?: View;
}

export const CATALOGUE: readonly { title: string; examples: readonly Example[] }[] = [
  {
    title: "One feature each",
    examples: [
      { name: "tour", title: "Tour", shows: "a shared claim, claims from templates, aligned devices, a fallback, admin access", files: ["gpu-sharing/"] },
      { name: "prioritized-list", title: "Prioritised list", shows: "one large GPU, else two medium ones, else four small ones", files: ["prioritized-list/"] },
      { name: "taints", title: "Taints and tolerations", shows: "tainted devices, who tolerates them, a rule over a whole pool", files: ["taints/"] },
      { name: "partitionable", title: "Partitions with shared counters", shows: "GPUs cut into halves and quarters", files: ["partitionable/"] },
      { name: "mig", title: "MIG", shows: "partitions of two A100, and half a GPU that is not there in one piece", files: ["drivers/nvidia-mig.yaml", "mig/"] },
      { name: "consumable-capacity", title: "Consumable capacity", shows: "one NIC used by several claims, each with its part of the bandwidth", files: ["consumable-capacity/"] },
      { name: "numa", title: "NUMA alignment", shows: "devices of two drivers on one NUMA node, and on different ones", files: ["numa-aligned/"] },
      { name: "network-attached", title: "Network-attached devices", shows: "devices that a rack reaches, or every node", files: ["network-attached/"] },
      { name: "extended-resource", title: "Extended resources", shows: "Pods that ask as they did for a device plugin", files: ["extended-resource/"] },
    ],
  },
  {
    title: "Claims of groups",
    examples: [
      { name: "shared-claim", title: "Two groups, one template", shows: "each PodGroup gets a claim that its Pods share (KEP-5729)", files: ["groups/shared-claim.yaml"] },
      { name: "gang", title: "Gang", shows: "a Workload whose Pods are placed together or not at all (KEP-5832)", files: ["groups/gang.yaml"] },
      { name: "cluster-template", title: "Cluster-wide template", shows: "one claim template for all namespaces (KEP-5978)", files: ["groups/cluster-template.yaml"] },
      { name: "topology", title: "Racks and domains", shows: "a hall, its racks and their nodes; each training gets a rack", files: ["topology/"] },
      { name: "many-pods", title: "300 Pods on one claim", shows: "more Pods than a claim can name, as one PodGroup", files: ["many-pods/"] },
      { name: "life", title: "A gang in time", shows: "a Pod is deleted, a device tainted, a controller crashes, a node is lost", files: ["life/cluster.yaml"], script: "life/script.yaml", view: "time" },
    ],
  },
  {
    title: "Broken, to be explained",
    examples: [
      { name: "misspelt-attribute", title: "An attribute that no device has", shows: "what was likely meant", files: ["pending/misspelt-attribute.yaml"], view: "why" },
      { name: "template-as-claim", title: "A template where a claim belongs", shows: "what the Pod names is there, but is something else", files: ["pending/template-as-claim.yaml"], view: "why" },
      { name: "not-one-numa-node", title: "Not on one NUMA node", shows: "each device is there, but not both together", files: ["pending/not-one-numa-node.yaml"], view: "why" },
      { name: "not-in-one-piece", title: "Not in one piece", shows: "enough memory is free, a bit on each GPU", files: ["pending/not-in-one-piece.yaml"], view: "why" },
      { name: "tainted", title: "Tainted", shows: "the one that is large enough has a taint", files: ["pending/tainted.yaml"], view: "why" },
      { name: "typos", title: "Typing errors", shows: "a wrong field, a wrong type, a selector that does not compile", files: ["typos/cluster.yaml", "typos/fields.yaml", "typos/cel.yaml", "typos/yaml.yaml"] },
    ],
  },
];

const EXAMPLES = CATALOGUE.flatMap(({ examples }) => examples);

export function exampleNamed(name: string): Example | undefined {
  return EXAMPLES.find((example) => example.name === name.trim().toLowerCase());
}

/** Names that begin as this one does, or else those that differ by few letters, or else all of them. */
export function namesLike(name: string): string[] {
  const wanted = name.trim().toLowerCase();
  const names = EXAMPLES.map(({ name }) => name);
  const like = names.filter((other) => wanted !== "" && other.startsWith(wanted.slice(0, 3)));
  const near = like.length > 0 ? like : names.filter((other) => lettersBetween(wanted, other) <= Math.max(2, other.length / 4));
  return near.length === 0 ? names : near;
}

/** How many letters have to be added, removed or changed to make one name of the other. */
function lettersBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let index = 1; index <= other.length; index += 1) {
      const changed = (row[index - 1] ?? 0) + (letter === other[index - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

// What the page starts with is there already.
const LOADERS = belowExamples(
  import.meta.glob<string>(["../../../examples/**/*.yaml", "!../../../examples/gpu-sharing/*"], { query: "?raw", import: "default" }),
);

export async function filesOf({ files }: Pick<Example, "files">): Promise<SourceFile[]> {
  const all = [...Object.keys(LOADERS), ...Object.keys(firstTexts)].sort();
  const paths = files.flatMap((file) => all.filter((path) => (file.endsWith("/") ? path.startsWith(file) : path === file)));
  const texts = await Promise.all(paths.map(async (path) => [path, await textOf(path)] as const));
  return texts.flatMap(([path, text]) => sourceFiles({ [path]: text }));
}

export async function scriptOf({ script }: Example): Promise<string> {
  return script === undefined ? "" : textOf(script);
}

async function textOf(path: string): Promise<string> {
  return firstTexts[path] ?? (await LOADERS[path]?.()) ?? "";
}
