// One question to the package: YAML in, report and findings with their lines out.

import { Engine, type Field, type Finding, type PlacedFinding, readYaml } from "apportion";

import { type Question, type Result, settingsOf } from "./protocol";

export function answer(question: Question): Result {
  const engine = new Engine(settingsOf(question));
  const manifests = readYaml(question.text);
  try {
    const findings = engine.applyYaml(manifests);
    const report = engine.run();
    const placed = (findings: readonly Finding[]): PlacedFinding[] => {
      const places = manifests.locateAll(findings.map(fieldOf));
      return findings.map((finding, index) => withPlace(finding, places[index]));
    };
    const own = manifests.locateAll(report.pods.map(({ namespace, name }) => ({ object: { kind: "Pod", namespace, name } })));
    const owners = manifests.locateAll(report.pods.map(({ owner }) => ({ object: owner ?? NO_OBJECT })));
    const reasons = placed(report.pods.flatMap((pod) => pod.reasons));
    return {
      report,
      findings: [...findings, ...placed(report.findings)],
      places: report.pods.map((_, index) => own[index] ?? owners[index]),
      reasons: report.pods.map((pod) => reasons.splice(0, pod.reasons.length)),
    };
  } finally {
    manifests.free();
    engine.free();
  }
}

const NO_OBJECT = { kind: "", namespace: "", name: "" };

function fieldOf({ object, path }: Finding): Field {
  return { object: object ?? NO_OBJECT, path };
}

function withPlace(finding: Finding, place: PlacedFinding["place"]): PlacedFinding {
  return place === undefined ? finding : { ...finding, place };
}
