// Compiled, never run: the package as a program uses it, with the findings that a strict compiler must have.

import { type Answer, Engine, type Report, allocate, readYaml } from "apportion";

export function devicesOf(report: Report, pod: string): string[] {
  const claims = report.pods.find(({ name }) => name === pod)?.claims.map(({ claim }) => claim) ?? [];
  return report.claims.filter(({ name }) => claims.includes(name)).flatMap(({ devices }) => devices.map(({ device }) => device));
}

export function inWords(answer: Answer): string {
  switch (answer.status) {
    case "allocated":
      return `on ${answer.node}`;
    case "none":
      return answer.nodes.map(({ node, requests }) => `${node}: ${requests.map(({ free }) => free).join()}`).join();
    case "error":
      return answer.error;
    case "gave-up":
      return `gave up on ${answer.node} after ${answer.steps} steps`;
    case "unreadable":
      return answer.findings.map(({ message }) => message).join();
    default:
      return answer satisfies never;
  }
}

export function use(text: string): void {
  const engine = new Engine({ version: "1.36", featureGates: { DRADeviceTaints: false }, maxSteps: 10n });
  const manifests = readYaml(text);
  for (const { place, message } of engine.applyYaml(manifests)) console.log(place?.line, message);
  allocate({ objects: [{}], question: { claims: [], inUse: { devices: [{ driver: "d", pool: "p", device: "x" }] } } });
  // @ts-expect-error There is no such version.
  new Engine({ version: "1.2" });
  // @ts-expect-error A document may be missing.
  manifests.locate({ kind: "Pod", namespace: "", name: "p" }).line;
}
