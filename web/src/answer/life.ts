// What happens in time: the cluster and a script, played in virtual time.

import { type Command, type Finding, type ObjectRef, SettingsError, Simulation, readScript, readYaml } from "apportion";

import { isRecord, list, record, text } from "../foreign";
import { type Life, settingsOf } from "../protocol";
import type { Session } from "./session";

/** Instants for which the whole state is kept. */
const MAX_STAGES = 400;

const NAMESPACED = new Set(["Pod", "PodGroup", "ResourceClaim", "ResourceClaimTemplate", "Workload"]);

export function life(session: Session, script: string, untilMillis: number): Life {
  const read = readSteps(script);
  const objects = session.stored().map(({ value }) => value);
  const simulation = new Simulation({ settings: settingsOf(session.question), objects });
  try {
    simulation.apply(objects);
    simulation.begin();
    const start = simulation.nowMillis;
    const played: Life = { moments: [], stages: [], steps: [], endMillis: untilMillis, isRestless: false, findings: read.findings };
    const advance = (to: number) => {
      // Whoever plays back wants to see the cluster between two steps, too: once a second at first, then ever more rarely.
      for (let at = simulation.nowMillis - start; at < to; ) {
        const step = Math.max(1000, Math.floor((at + 1000) / 10_000) * 1000);
        at = Math.min(to, at + step);
        played.isRestless = simulation.runUntil(start + at) === "restless" || played.isRestless;
        keep(at);
      }
      if (to === 0) played.isRestless = simulation.runUntil(start) === "restless" || played.isRestless;
    };
    let seen = -1;
    const keep = (atMillis: number) => {
      const count = simulation.timeline(Math.max(0, seen)).length + Math.max(0, seen);
      if (count === seen || played.stages.length >= MAX_STAGES) return;
      seen = count;
      played.stages.push({ atMillis, report: simulation.report() });
    };
    advance(0);
    keep(0);
    for (const { atMillis, command, object, says } of read.steps) {
      if (atMillis > untilMillis) break;
      advance(atMillis);
      const meant = inNamespace(simulation, object);
      simulation.tell(meant, says);
      const refused = simulation.perform(withNamespace(command, meant.namespace));
      if (refused !== undefined) simulation.tell(meant, `refused: ${refused.message}`);
      played.steps.push({ atMillis, says, ...(refused === undefined ? {} : { refused: refused.message }) });
      played.isRestless = simulation.runUntil(start + atMillis) === "restless" || played.isRestless;
      keep(atMillis);
    }
    advance(untilMillis);
    keep(untilMillis);
    return { ...played, moments: simulation.timeline() };
  } finally {
    simulation.free();
  }
}

function readSteps(script: string): { steps: ReturnType<typeof readScript>; findings: Finding[] } {
  const manifests = readYaml(script);
  try {
    const errors = manifests.problems.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return { steps: [], findings: errors };
    const value = manifests.json(0);
    return { steps: value === undefined ? [] : readScript(value), findings: [] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
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

/** Steps of a script, as far as a list can be read from it, for adding to it. */
export function stepsOf(value: unknown): unknown[] {
  return list(value);
}
