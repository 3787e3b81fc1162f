// What happens in time: the cluster and a script, played in virtual time.

import { type Command, type Finding, type ObjectRef, RequestError, type ScriptStep, Simulation, readScript, readYaml } from "apportion";

import { isRecord, record, text } from "../foreign";
import { inventory } from "../model/inventory";
import { type Hardware, type Life, settingsOf } from "../protocol";
import type { Session } from "./session";

/** Kinds of what there is before anybody asks for it, and of what is wrong with it. */
const HARDWARE = ["Node", "ResourceSlice", "DeviceTaintRule"];

/** Times for which the whole state is kept. */
const MAX_STAGES = 400;

const NAMESPACED = new Set(["Pod", "PodGroup", "ResourceClaim", "ResourceClaimTemplate", "Workload"]);

export function life(session: Session, script: string, untilMillis: number): Life {
  const { steps, findings } = readSteps(script);
  const objects = session.stored().map(({ value }) => value);
  const settings = settingsOf(session.question);
  const begun = new Simulation({ settings, objects });
  begun.apply(objects);
  begun.begin();
  // Most happens at once: that is played once, and what follows twice, to learn when something happens and to look at each of these times.
  // Equal pasts have equal futures.
  const start = begun.nowMillis;
  const isRestless = begun.runUntil(start) === "restless";
  const other = begun.fork();
  const { moments } = play(begun, start, steps, untilMillis, []);
  const stops = [...new Set([0, ...moments.map(({ atMillis }) => atMillis), untilMillis])];
  const played = play(other, start, steps, untilMillis, stops.slice(0, MAX_STAGES));
  return { ...played, isRestless: isRestless || played.isRestless, endMillis: untilMillis, findings };
}

type Played = Pick<Life, "moments" | "stages" | "steps" | "isRestless">;

/** Plays the steps from a start on, and looks at the cluster at the stops, which are in the order of time. The simulation is freed. */
function play(simulation: Simulation, start: number, steps: readonly ScriptStep[], untilMillis: number, stops: readonly number[]): Played {
  const played: Played = { moments: [], stages: [], steps: [], isRestless: false };
  try {
    const runUntil = (atMillis: number) => {
      if (simulation.runUntil(start + atMillis) === "restless") played.isRestless = true;
    };
    const due = steps.filter(({ atMillis }) => atMillis <= untilMillis);
    let told = 0;
    const times = [...new Set([...stops, ...due.map(({ atMillis }) => atMillis), untilMillis])].sort((one, other) => one - other);
    for (const time of times) {
      // What is due before a step happens before it, and so does what is due at its time.
      runUntil(time);
      for (const step of due.filter(({ atMillis }) => atMillis === time)) {
        played.steps.push(perform(simulation, step));
        runUntil(time);
      }
      if (!stops.includes(time)) continue;
      const news = simulation.timeline(told);
      told += news.length;
      const isOther = news.some(({ object }) => HARDWARE.includes(object.kind));
      played.stages.push({ atMillis: time, report: simulation.report(), ...(isOther && { hardware: hardwareOf(simulation) }) });
    }
    return { ...played, moments: simulation.timeline() };
  } finally {
    simulation.free();
  }
}

function hardwareOf(simulation: Simulation): Hardware {
  const stored = HARDWARE.flatMap((kind) =>
    simulation.objects(kind).map((value) => ({ object: { kind, namespace: "", name: text(record(record(value).metadata).name) }, value })),
  );
  const { pools, nodes } = inventory(stored);
  return { pools, nodes };
}

function perform(simulation: Simulation, { atMillis, command, object, says }: ScriptStep): Life["steps"][number] {
  const meant = inNamespace(simulation, object);
  simulation.tell(meant, says);
  const refused = simulation.perform(withNamespace(command, meant.namespace));
  if (refused === undefined) return { atMillis, says };
  simulation.tell(meant, `refused: ${refused.message}`);
  return { atMillis, says, refused: refused.message };
}

function readSteps(script: string): { steps: ReturnType<typeof readScript>; findings: Finding[] } {
  const manifests = readYaml(script);
  try {
    const errors = manifests.problems.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return { steps: [], findings: errors };
    const value = manifests.json(0);
    return { steps: value === undefined ? [] : readScript(value), findings: [] };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { steps: [], findings: [...error.findings] };
  } finally {
    manifests.free();
  }
}

/** The object with its namespace: the one that is written, the only one that has such an object, or `default`. */
function inNamespace(simulation: Simulation, object: ObjectRef): ObjectRef {
  if (object.namespace !== "" || !NAMESPACED.has(object.kind)) return object;
  const metadata = simulation.objects(object.kind).map((value) => record(record(value).metadata));
  const homes = metadata.filter(({ name }) => name === object.name).map(({ namespace }) => text(namespace));
  return { ...object, namespace: homes.length === 1 && homes[0] !== undefined ? homes[0] : "default" };
}

function withNamespace(command: Command, namespace: string): Command {
  if ("delete" in command) return { delete: { ...command.delete, object: { ...command.delete.object, namespace } } };
  if ("patch" in command) return { patch: { ...command.patch, object: { ...command.patch.object, namespace } } };
  if ("finish" in command) return { finish: { ...command.finish, pod: { ...command.finish.pod, namespace } } };
  if ("create" in command && isRecord(command.create) && namespace !== "") {
    return { create: { ...command.create, metadata: { namespace, ...record(command.create.metadata) } } };
  }
  return command;
}
