"""The notebook in `examples/python`, executed cell by cell."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import unittest
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "python" / "purchase.ipynb"


@unittest.skipUnless(
    importlib.util.find_spec("pandas") and importlib.util.find_spec("matplotlib"), "pandas and matplotlib are not installed"
)
class Notebook(unittest.TestCase):
    def test_it_says_why_a_pod_waits_which_purchase_helps_and_plots_it(self) -> None:
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt

        names: dict[str, Any] = {}
        notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        before = Path.cwd()
        os.chdir(NOTEBOOK.parent)
        try:
            with contextlib.redirect_stdout(None):
                for cell in notebook["cells"]:
                    self.assertEqual(cell.get("outputs", []), [], "a notebook is kept without outputs")
                    if cell["cell_type"] == "code":
                        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
        finally:
            os.chdir(before)
        if picture := os.environ.get("APPORTION_PICTURE"):
            plt.figure(1).savefig(picture)
        self.assertEqual([one.subject.name for one in names["explanations"] if one.state == "noDevices"], ["huge-model"])
        options = names["options"]
        started = {option: pods for option, pods in options["Pods that start"].items() if pods}
        self.assertEqual(started, {"2 x 192Gi": ["ml/huge-model"]})
        self.assertGreater(options["free GPUs"]["8 x 24Gi"], options["free GPUs"]["nothing"])
        self.assertGreater(options["free GPUs of 80Gi"]["4 x 80Gi"], options["free GPUs of 80Gi"]["8 x 24Gi"])
        heights = [patch.get_height() for axes in plt.figure(1).axes for patch in axes.patches]
        self.assertEqual(len(heights), 3 * 3 + 2 * len(options))
        self.assertGreater(sum(heights), 0)
        plt.close("all")


if __name__ == "__main__":
    unittest.main()
