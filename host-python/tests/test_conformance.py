"""The project's recorded cases, asked through this package."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

import apportion

CASES = Path(__file__).resolve().parents[2] / "tests" / "conformance"

#: Feature names of the cases, and the gate behind each.
GATES = {
    "adminAccess": "DRAAdminAccess",
    "compatibilityGroups": "DRADeviceCompatibilityGroups",
    "consumableCapacity": "DRAConsumableCapacity",
    "derivedAttributes": "DRADerivedAttributes",
    "deviceBindingAndStatus": "DRADeviceBindingConditions",
    "deviceTaints": "DRADeviceTaints",
    "fractionalCapacityRange": "DRAFractionalCapacityRange",
    "listTypeAttributes": "DRAListTypeAttributes",
    "optionalNodeOperations": "DRAOptionalNodeOperations",
    "partitionableDevices": "DRAPartitionableDevices",
    "prioritizedList": "DRAPrioritizedList",
}


def cases(name: str) -> list[dict[str, Any]]:
    with open(CASES / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def picked(allocations: list[dict[str, Any]]) -> list[list[tuple[str, str, str, str]]]:
    """Request, driver, pool and device of each result of each claim."""
    names = ("request", "driver", "pool", "device")
    return [[tuple(result[name] for name in names) for result in one["devices"]["results"]] for one in allocations]


def outcome(case: dict[str, Any]) -> tuple[str, Any]:
    gates = {gate: bool(case["features"].get(feature)) for feature, gate in GATES.items()}
    cluster = apportion.Cluster(
        case["node"], case["classes"], version=case.get("version", "1.36.2"), feature_gates=gates, max_steps=case.get("maxSteps")
    )
    names: set[str] = set()
    for part in case["slices"]:
        # A cluster cannot hold two slices of one name.
        while part["metadata"]["name"] in names:
            part["metadata"]["name"] += "!"
        names.add(part["metadata"]["name"])
        cluster.apply(part)
    used = {"devices": case["allocatedDevices"], "shares": case["allocatedSharedDevices"], "consumed": case["consumedCapacity"]}
    try:
        answer = cluster.allocate(case["claims"], [case["node"]["metadata"]["name"]], used)
    except apportion.FailedError:
        return "error", []
    except apportion.GaveUpError:
        return "gave-up", []
    if answer.fits:
        return "allocated", picked(answer.allocations)
    return ("error" if answer.refusals[0].failure else "none"), []


class Conformance(unittest.TestCase):
    def test_allocations_are_the_recorded_ones(self) -> None:
        for name in ("allocator/generated.jsonl", "allocator/limits.jsonl", "allocator/next.jsonl"):
            for case in cases(name):
                expected = case.get("soundExpected", case["expected"])
                with self.subTest(case["id"]):
                    self.assertEqual(outcome(case), (expected["status"], picked(expected.get("allocations") or [])))

    def test_selectors_come_to_what_is_recorded(self) -> None:
        for name in ("cel/functions.jsonl", "cel/selectors.jsonl"):
            for case in cases(name):
                expected, features = case["expected"], case["features"]
                verdict = apportion.cel(
                    case["expression"],
                    case["device"],
                    version=case.get("version", "1.36"),
                    environment=case["environment"],
                    consumable_capacity=features.get("consumableCapacity", False),
                    list_type_attributes=features.get("listTypeAttributes", False),
                )
                with self.subTest(case["id"]):
                    self.assertEqual(verdict.status, expected["status"])
                    self.assertEqual(verdict.actual_cost, expected.get("actualCost", verdict.actual_cost))


if __name__ == "__main__":
    unittest.main()
