"""The package as it is installed: types, the module inside, answers as frames."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import importlib.resources
import importlib.util
import io
import os
import re
import unittest
from pathlib import Path
from typing import Any

import apportion
from apportion import answers, explanations, planning, records

from manifests import CHECKOUT, SMALL, claim, pod


class Package(unittest.TestCase):
    def test_it_brings_its_module_and_its_types(self) -> None:
        files = importlib.resources.files("apportion")
        self.assertTrue(files.joinpath("apportion.wasm").read_bytes().startswith(b"\0asm"))
        self.assertTrue(files.joinpath("py.typed").is_file())

    def test_it_has_the_version_of_the_project(self) -> None:
        version = re.search(r'^version = "(.*)"', (CHECKOUT / "Cargo.toml").read_text(), re.MULTILINE)
        assert version is not None
        self.assertEqual(importlib.metadata.version("apportion"), version[1])

    def test_every_answer_has_the_fields_of_the_core(self) -> None:
        declared = (CHECKOUT / "npm/entry/decisions.d.ts").read_text()
        # Where a finding stands in a text is said by the reader, which is not the core's.
        elsewhere = {"Finding": {"file", "line", "column"}}
        compared = 0
        for module in (records, answers, explanations, planning):
            for name, kind in vars(module).items():
                if not dataclasses.is_dataclass(kind) or kind.__module__ != module.__name__ or name == "Answer":
                    continue
                body = re.search(rf"^export type {name} = {{\n(.*?)^}};", declared, re.MULTILINE | re.DOTALL)
                assert body is not None, name
                core = set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE))
                ours = {records.json_name(field.name) for field in dataclasses.fields(kind)}
                self.assertEqual(core ^ ours, elsewhere.get(name, set()), name)
                compared += 1
        self.assertGreater(compared, 30)


class Page(unittest.TestCase):
    def test_the_samples_of_the_page_run_as_printed(self) -> None:
        names: dict[str, Any] = {}
        samples = re.findall(r"^```python\n(.*?)^```", (CHECKOUT / "docs/python.md").read_text(), re.MULTILINE | re.DOTALL)
        before = Path.cwd()
        os.chdir(CHECKOUT)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                for sample in samples:
                    exec(compile(sample, "docs/python.md", "exec"), names)
        finally:
            os.chdir(before)
        self.assertEqual(len(samples), 2)
        self.assertIn("could help: change `selectors[0]`", printed.getvalue())
        self.assertIn("ml/huge-model pending {'node': 'node-new'}", printed.getvalue())
        self.assertGreater(names["after"], names["before"])


@unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
class Frames(unittest.TestCase):
    def test_answers_become_frames(self) -> None:
        cluster = apportion.Cluster(SMALL, claim(2), pod("training", "training"), claim(3, "big"), pod("big", "big"))
        report = cluster.run()
        pods = report.to_frame()
        self.assertEqual(pods.set_index("name").node["training"], "node-b")
        self.assertTrue(pods.set_index("name").reasons["big"])
        self.assertEqual(list(report.to_frame("devices").device), ["gpu-0", "gpu-1"])
        self.assertEqual(report.to_frame("nodes").set_index("name").allocated_devices["node-b"], 2)
        self.assertEqual(len(report.to_frame("claims")), 2)
        with self.assertRaises(ValueError):
            report.to_frame("shoes")
        self.assertEqual(cluster.fit(device_class="gpu").to_frame().at_least.sum(), 1)
        usage = cluster.usage().to_frame()
        self.assertEqual(usage[usage.of == "node"].set_index("name").used["node-b"], 2)
        difference = cluster.what_if(without=["Node/node-b"]).to_frame()
        self.assertEqual(list(difference.after), ["pending"])

    def test_an_empty_frame_has_its_columns(self) -> None:
        report = apportion.Cluster().run()
        self.assertIn("node", report.to_frame().columns)
        self.assertIn("claim", report.to_frame("devices").columns)


if __name__ == "__main__":
    unittest.main()
