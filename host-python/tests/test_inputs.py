from __future__ import annotations

import datetime
import importlib.util
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

import apportion
from apportion import Cluster
from apportion.objects import items

from manifests import CLASS, SMALL, claim, node
from test_cluster import on

YAML = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: yes }
---
kind: [
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: "012" }
"""


class Sources(unittest.TestCase):
    def test_yaml_is_read_as_kubectl_reads_it(self) -> None:
        applied = Cluster().apply(YAML)
        self.assertEqual([ref.name for ref in applied.taken], ["012"])
        said = {one.code: (one.line, one.column) for one in applied.findings}
        self.assertEqual(said["yaml/surprising-scalar"], (3, 19))
        self.assertIn("yaml/syntax", said)
        shown = str(next(one for one in applied.findings if one.code == "yaml/syntax"))
        self.assertRegex(shown, r"^error: line:\d+:\d+: .*\[yaml/syntax\]")

    def test_files_folders_lists_and_bytes_are_taken_apart(self) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": SMALL}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "inner", "cluster.json")
            path.parent.mkdir()
            path.write_text(json.dumps(listed))
            Path(folder, "notes.txt").write_text("no manifest")
            text = json.dumps(listed)
            buffers = (text.encode(), bytearray(text.encode()), memoryview(text.encode()), io.StringIO(json.dumps(listed, indent=1)))
            for source in (path, Path(folder), listed, text, *buffers, [SMALL[:2], iter(SMALL[2:])]):
                self.assertEqual(len(Cluster(source).applied.taken), 5, source)
            with path.open() as file:
                self.assertEqual(len(Cluster(file).applied.taken), 5)

    def test_a_folder_is_read_as_the_command_line_reads_it(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with self.assertRaisesRegex(FileNotFoundError, "holds no"):
                Cluster(folder)
            (folder / ".hidden").mkdir()
            (folder / ".hidden/class.yml").write_text(json.dumps(CLASS))
            (folder / "values.yaml").write_text("replicas: yes\n---\nimage: {tag: 012}\n")
            (folder / "package.json").write_text('{"name": "a", "version": "1"}')
            (folder / "wrong.yaml").write_text("apiVersion: v1\nmetadata: {name: a}\n")
            (folder / "node.yaml").write_text(json.dumps(node("node-a", 1)[0]))
            (folder / "again.yaml").symlink_to("node.yaml")
            (folder / "back").symlink_to(folder)
            (folder / "lost").symlink_to("nothing")
            applied = Cluster(folder).applied
            self.assertEqual([(ref.kind, ref.name) for ref in applied.taken], [("DeviceClass", "gpu"), ("Node", "node-a")])
            self.assertEqual([one.code for one in applied.findings], ["read/no-kind"])
            self.assertEqual(applied.skipped, [str(folder / "package.json"), str(folder / "values.yaml")])
            self.assertTrue(Cluster(folder / "values.yaml").applied.errors, "a file that is named has to be a manifest")
            os.mkfifo(folder / "pipe.json")
            with self.assertRaisesRegex(OSError, "neither a file nor a folder"):
                Cluster(folder)

    def test_what_is_no_object_is_refused_at_once(self) -> None:
        with self.assertRaises(TypeError):
            Cluster(5)
        for name in ("cluster.yaml", "manifests/eu", "/nothing/there"):
            with self.assertRaisesRegex(ValueError, "pathlib.Path"):
                Cluster(name)
        with self.assertRaises(FileNotFoundError):
            Cluster(Path("/nothing/there.yaml"))

    def test_times_of_python_become_times_of_kubernetes(self) -> None:
        created = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
        cluster = Cluster({**CLASS, "metadata": {"name": "gpu", "creationTimestamp": created}})
        found = cluster.get("DeviceClass/gpu")
        assert found is not None
        self.assertEqual(found["metadata"]["creationTimestamp"], "2026-01-02T02:04:05Z")

    def test_bytes_that_are_no_text_cost_one_document(self) -> None:
        text = YAML.replace("kind: [", "kind: caf\udce9").encode("utf-8", "surrogateescape")
        applied = Cluster().apply(text)
        self.assertEqual([ref.name for ref in applied.taken], ["012"])
        self.assertIn("yaml/encoding", [one.code for one in applied.errors])

    def test_hostile_texts_are_findings(self) -> None:
        deep: object = 1
        for _ in range(100_000):
            deep = [deep]
        for source in (b"\xff\xfe\x00", "\ud800", "[" * 100_000, "{{ .Values.x }}", {"kind": "\ud800"}, {"kind": "Pod", "x": deep}):
            applied = Cluster().apply(source)
            self.assertEqual(applied.taken, [])
            self.assertTrue(applied.errors, type(source))


class Model:
    """An object as the package `kubernetes` makes them."""

    attribute_map: dict[str, str] = {}
    openapi_types: dict[str, str] = {}

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)


class V1DeviceClass(Model):
    attribute_map = {"api_version": "apiVersion", "kind": "kind", "metadata": "metadata", "spec": "spec"}
    openapi_types = attribute_map


class V1ObjectMeta(Model):
    attribute_map = {"name": "name", "creation_timestamp": "creationTimestamp"}
    openapi_types = attribute_map


class ClientObjects(unittest.TestCase):
    def test_an_object_out_of_a_list_is_known_by_its_class(self) -> None:
        metadata = V1ObjectMeta(name="gpu", creation_timestamp=datetime.datetime(2026, 1, 2))
        applied = Cluster().apply(V1DeviceClass(api_version=None, kind=None, metadata=metadata, spec={}))
        self.assertEqual([(ref.kind, ref.name) for ref in applied.taken], [("DeviceClass", "gpu")], applied.findings)

    def test_every_kind_out_of_a_list_has_its_group(self) -> None:
        for kind, version in (("PodDisruptionBudget", "policy/v1"), ("ResourcePoolStatusRequest", "resource.k8s.io/v1"), ("Pod", "v1")):
            model = type(f"V1{kind}", (V1DeviceClass,), {})
            (item,) = items([model(api_version=None, kind=None, metadata=V1ObjectMeta(name="a", creation_timestamp=None), spec={})]).items
            self.assertEqual(json.loads(item.text)["apiVersion"], version)

    @unittest.skipUnless(importlib.util.find_spec("kubernetes"), "the package kubernetes is not installed")
    def test_objects_of_the_dynamic_client_say_yes_to_every_name_and_are_taken(self) -> None:
        from kubernetes.dynamic.resource import ResourceField, ResourceInstance

        listed = {"apiVersion": "v1", "kind": "List", "items": SMALL}
        for source in (map(ResourceField, SMALL), ResourceInstance(None, listed)):
            self.assertEqual(on(Cluster(source), 2), "node-b")

    @unittest.skipUnless(importlib.util.find_spec("kubernetes"), "the package kubernetes is not installed")
    def test_objects_of_the_package_kubernetes_are_taken_as_they_are(self) -> None:
        from kubernetes import client

        exactly = client.V1ExactDeviceRequest(device_class_name="gpu", count=1)
        requests = [client.V1DeviceRequest(name="gpu", exactly=exactly)]
        asked = client.ResourceV1ResourceClaim(
            metadata=client.V1ObjectMeta(name="training", namespace="ml"),
            spec=client.V1ResourceClaimSpec(devices=client.V1DeviceClaim(requests=requests)),
        )
        nodes = client.V1NodeList(items=[client.V1Node(metadata=client.V1ObjectMeta(name="node-c"))])
        cluster = Cluster(SMALL, nodes, asked)
        self.assertEqual(cluster.applied.left_out, [], cluster.applied.findings)
        self.assertIn("node-c", [ref.name for ref in cluster.applied.taken])
        self.assertEqual(cluster.allocate(asked).node, "node-a")


@unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
class Tables(unittest.TestCase):
    def test_columns_and_numbers_of_pandas_are_sources_and_values(self) -> None:
        import pandas

        table = pandas.DataFrame({"object": SMALL, "count": range(1, 6)})
        cluster = Cluster(table["object"])
        self.assertEqual(on(cluster, table["count"].iloc[1]), "node-b")
        self.assertEqual(cluster.fit(device_class="gpu", count=table["count"].max()).total.at_least, 0)


class Manifests(unittest.TestCase):
    def test_validate_says_what_the_api_server_says_and_what_shows_together(self) -> None:
        self.assertEqual([str(one) for one in apportion.validate(CLASS, node("node-a", 1), claim(1)) if one.severity == "error"], [])
        wrong = claim(-1)
        findings = apportion.validate(wrong, claim(1, "lost", "nothing"), YAML, version="1.37")
        server = [one for one in findings if one.kind]
        self.assertEqual(server[0].path, "spec.devices.requests[0].exactly.count")
        named = [one for one in findings if one.object and one.object.name == "lost"]
        self.assertTrue(any("nothing" in one.message for one in named), named)
        self.assertEqual(findings[0].code, "yaml/surprising-scalar")

    def test_cel_says_whether_a_device_matches(self) -> None:
        device = {"driver": "gpu.example.com", "attributes": {"model": {"string": "a100"}}}
        self.assertTrue(apportion.cel('device.attributes["gpu.example.com"].model == "a100"', device))
        other = apportion.cel('device.attributes["gpu.example.com"].model == "b200"', device)
        self.assertEqual((bool(other), other.status), (False, "noMatch"))
        wrong = apportion.cel("device.", device)
        self.assertEqual((wrong.status, wrong.line), ("compileError", 1))
        self.assertEqual(apportion.cel('device.attributes["x"].y == 1', device).status, "runtimeError")
        for nothing in ("gpu-0", None):
            with self.assertRaisesRegex(TypeError, "is no device"):
                apportion.cel("true", nothing)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
