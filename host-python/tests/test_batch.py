"""Many clusters, in one process and on the workers of a Ray cluster."""

from __future__ import annotations

import codecs
import datetime
import importlib.util
import json
import os
import signal
import unittest
from collections.abc import Iterable
from typing import Any

from apportion import batch

from manifests import SMALL, claim, pod
from test_cluster import next_call_traps
from test_inputs import V1DeviceClass, V1ObjectMeta


def fleet(clusters: int) -> list[dict[str, Any]]:
    """Claims of one, two and three devices by turns; three fit nowhere."""
    objects = [[*SMALL, claim(1 + number % 3), pod("training", "training")] for number in range(clusters)]
    return [{"id": f"cluster-{number}", "objects": one} for number, one in enumerate(objects)]


def read(answers: Iterable[str]) -> list[dict[str, Any]]:
    return [json.loads(one) for one in answers]


class Batch(unittest.TestCase):
    def test_each_line_is_answered_in_order(self) -> None:
        answers = read(batch.answers(fleet(4)))
        self.assertEqual([one["id"] for one in answers], [f"cluster-{number}" for number in range(4)])
        self.assertEqual([one["answers"][0]["satisfied"] for one in answers], [True, True, False, True])
        self.assertEqual(answers[1]["answers"][0]["answer"]["pods"][0]["node"], "node-b")

    def test_shards_together_are_the_whole(self) -> None:
        lines = [json.dumps(one) for one in fleet(7)] + ["", "{"]
        whole = list(batch.answers(lines, ["run", "usage"]))
        shards = [list(batch.answers(lines, ["run", "usage"], shard=(number, 3))) for number in range(3)]
        self.assertEqual([shards[place % 3][place // 3] for place in range(len(whole))], whole)
        with self.assertRaises(ValueError):
            next(batch.answers([], shard=(3, 3)))

    def test_settings_hold_for_lines_that_do_not_say_them(self) -> None:
        without, with_own = ({"objects": SMALL}, {"objects": SMALL, "settings": {"placement": "scores"}})
        unknown = read(batch.answers([without, with_own], version="1.10"))
        self.assertEqual([one["status"] for one in unknown], ["failed", "answered"], "settings of a line are all that it has")
        wrong = read(batch.answers([without, with_own], placement="best"))  # type: ignore[arg-type]
        self.assertEqual([one["status"] for one in wrong], ["failed", "answered"])

    def test_what_cannot_be_read_is_an_answer(self) -> None:
        lines = ["{", {"id": 1}, {"objects": [float("nan")]}, b"\xff", {"objects": [], "ask": "rnu"}]
        self.assertEqual([one["status"] for one in read(batch.answers(lines))], ["failed"] * 5)

    def test_lines_count_as_on_the_command_line(self) -> None:
        empty = b'{"objects":[]}'
        mark = codecs.BOM_UTF8
        lines = [b"", b" \t\f\r\n", b"\v", mark, mark + empty, empty + b"\r\n", mark + mark + empty, b"{\n", b"\x1e"]
        answers = list(batch.answers(lines))
        self.assertEqual(list(batch.answers(line.decode() for line in lines)), answers)
        self.assertEqual([one["index"] for one in read(answers)], list(range(7)))
        unread, read_ones = ["failed"], ["answered"]
        self.assertEqual([one["status"] for one in read(answers)], 2 * unread + 2 * read_ones + 3 * unread)
        # The line ends before its line break.
        self.assertIn("line 1 column 1", answers[5])

    def test_objects_of_the_package_kubernetes_are_objects_of_a_line(self) -> None:
        metadata = V1ObjectMeta(name="gpu", creation_timestamp=datetime.datetime(2026, 1, 2))
        line = {"objects": [V1DeviceClass(api_version=None, kind=None, metadata=metadata, spec={}), *SMALL[1:]]}
        (answer,) = read(batch.answers([line], "snapshot"))
        self.assertEqual((answer["status"], answer["input"]["objects"]), ("answered", 5), answer)

    def test_a_trap_costs_its_line(self) -> None:
        with next_call_traps():
            answers = read(batch.answers(fleet(2)))
        self.assertEqual([one["status"] for one in answers], ["failed", "answered"])
        self.assertEqual((answers[0]["id"], answers[0]["findings"][0]["code"]), ("cluster-0", "internal/trap"))


@unittest.skipUnless(importlib.util.find_spec("ray"), "ray is not installed")
class OnRay(unittest.TestCase):
    def test_two_workers_give_the_same_bytes_as_one_process(self) -> None:
        import ray

        from apportion.ray import map_clusters

        # Ray would leave a token in the user's home.
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")
        lines: list[Any] = [*fleet(20), "{"]
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            whole = list(batch.answers(lines, "explain"))
            self.assertEqual(list(map_clusters(lines, "explain", chunk=3)), whole)
            # A worker that dies costs no line: Ray repeats its task.
            answers = map_clusters(lines, "explain", chunk=1, ahead=2)
            first = next(answers)
            os.kill(ray.get(ray.remote(lambda: os.getpid()).remote()), signal.SIGKILL)
            self.assertEqual([first, *answers], whole)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    unittest.main()
