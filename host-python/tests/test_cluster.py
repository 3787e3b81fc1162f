from __future__ import annotations

import copy
import gc
import json
import linecache
import multiprocessing
import os
import pickle
import re
import sys
import threading
import unittest
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any
from unittest import mock

import apportion
from apportion import Cluster, ObjectRef
from apportion.instance import Trap
from apportion.kinds import group_of, is_namespaced, kind_named

from manifests import CHECKOUT, CLASS, SMALL, claim, node, pod


def on(cluster: Cluster, count: int) -> str:
    return cluster.allocate(claim(count)).node


def next_call_traps() -> mock._patch[object]:
    """The instance fails once, as one does that trapped."""
    instance = apportion.instance.Instance
    ask = instance.ask
    calls: list[object] = []

    def once(self: object, *arguments: object) -> bytes:
        calls.append(arguments)
        if len(calls) == 1:
            raise Trap("unreachable")
        return ask(self, *arguments)

    return mock.patch.object(instance, "ask", once)


class Facts(unittest.TestCase):
    def test_an_object_that_cannot_be_read_costs_no_other(self) -> None:
        broken = {**CLASS, "metadata": {"name": "broken"}, "spec": {"selectors": 5}}
        endless = {**CLASS, "metadata": {"name": "endless", "labels": {"n": float("inf")}}}
        cluster = Cluster()
        applied = cluster.apply(*SMALL, broken, endless, {})
        self.assertEqual([ref.name for ref in applied.left_out], ["broken", "endless", ""])
        self.assertEqual(len(applied.taken), len(SMALL))
        self.assertEqual({one.severity for one in applied.errors}, {"error"})
        self.assertIn("read/bad-json", [one.code for one in applied.errors])
        self.assertEqual(on(cluster, 2), "node-b")

    def test_an_object_is_replaced_deleted_and_read(self) -> None:
        cluster = Cluster(SMALL)
        cluster.apply(node("node-a", 4))
        self.assertEqual(on(cluster, 4), "node-a")
        self.assertTrue(cluster.delete("ResourceSlice/node-a"))
        self.assertFalse(cluster.delete("ResourceSlice/node-a"))
        self.assertEqual(on(cluster, 4), "")
        self.assertIsNone(cluster.get(ObjectRef("ResourceSlice", "", "node-a")))
        found = cluster.get("DeviceClass/gpu")
        assert found is not None
        self.assertEqual(found["metadata"]["name"], "gpu")

    def test_an_unknown_setting_is_refused_with_a_hint(self) -> None:
        with self.assertRaises(apportion.UnreadableError) as raised:
            Cluster(feature_gates={"DRAConsumableCapacty": True})
        self.assertIn("did you mean `DRAConsumableCapacity`?", str(raised.exception))
        with self.assertRaises(apportion.UnreadableError):
            Cluster(version="1.10")

    def test_a_name_that_names_nothing_is_a_value_error(self) -> None:
        with self.assertRaises(ValueError):
            Cluster().delete("training")
        with self.assertRaisesRegex(TypeError, "names no object"):
            Cluster().delete(SMALL[0])  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "no kind `podd` is known"):
            Cluster().delete("podd/ml/training")

    def test_kinds_are_spelled_as_on_the_command_line(self) -> None:
        cluster = Cluster(SMALL, claim(1), pod("training", "training"))
        for word in ("pod", "PODS", "po"):
            self.assertEqual(cluster.explain(f"{word}/ml/training")[0].subject.name, "training")
            self.assertIsNotNone(cluster.get(f"{word}/ml/training"))
        self.assertEqual(cluster.fit("claim/ml/training").total.at_least, 2)
        self.assertEqual(cluster.what_if(without="no/node-b").nodes_removed, ["node-b"])
        self.assertTrue(cluster.delete("deviceclasses/gpu"))
        source = (CHECKOUT / "core/src/control_plane/script.rs").read_text()
        known = re.findall(r'^    \("(\w+)", "(\w+)", (true|false)\),$', source, re.MULTILINE)
        self.assertGreater(len(known), 30)
        for word, kind, namespaced in known:
            self.assertEqual((kind_named(word), is_namespaced(kind)), (kind, namespaced == "true"), word)

    def test_every_kind_of_the_core_has_its_word_and_its_group(self) -> None:
        source = (CHECKOUT / "core/src/api/object.rs").read_text()
        known = re.findall(r'^    (\w+)\(\w+\) = "(\w+)" in "(.*)", (true|false);$', source, re.MULTILINE)
        self.assertGreater(len(known), 15)
        for variant, kind, group, namespaced in known:
            name = f"{kind}.{group}" if variant == "TemplateSource" else kind
            self.assertEqual((kind_named(name), group_of(name)), (name, group))
            self.assertEqual(is_namespaced(name), namespaced == "true", name)

    def test_what_was_taken_has_the_name_under_which_it_is_kept(self) -> None:
        cluster = Cluster()
        spaceless = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": pod("x", "x")["spec"]}
        spaced = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x", "namespace": "ml"}}
        scheduler = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        taken = cluster.apply(spaceless, spaced, scheduler).taken
        self.assertEqual([ref.namespace for ref in taken], ["default", "", ""])
        for ref in taken:
            self.assertIsNotNone(cluster.get(ref), ref)
        self.assertIsNotNone(cluster.get("Pod/x"))
        self.assertTrue(cluster.delete("Pod/x"))
        self.assertEqual([cluster.delete(ref) for ref in taken], [False, True, True])

    def test_what_plays_no_part_is_not_kept(self) -> None:
        cluster = Cluster(SMALL)
        kept = len(cluster._home.copies)
        fork = cluster.fork()
        for number in range(3):
            applied = cluster.apply({"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{number}", "namespace": "ml"}})
            self.assertEqual((applied.taken, applied.left_out), ([], []))
            self.assertEqual(applied.aside, [ObjectRef("Event", "ml", f"e{number}")])
        self.assertEqual(len(cluster._home.copies), kept)
        fork.commit()
        spec = {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"basic": {}}}]}
        held = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "Workload", "metadata": {"name": "w", "namespace": "ml"}, "spec": spec}
        applied = cluster.apply(held)
        self.assertEqual([one.code for one in applied.findings], ["read/unknown-kind"])
        self.assertIsNotNone(cluster.get(applied.taken[0]))
        self.assertTrue(cluster.delete(applied.taken[0]))


class Questions(unittest.TestCase):
    def setUp(self) -> None:
        self.cluster = Cluster(SMALL, version="1.37")

    def test_a_claim_gets_the_devices_of_the_first_node_on_which_it_fits(self) -> None:
        answer = self.cluster.allocate(claim(2))
        self.assertTrue(answer.fits)
        self.assertEqual(answer.node, "node-b")
        self.assertEqual(answer.devices, [("gpu.example.com", "node-b", f"gpu-{number}") for number in range(2)])
        self.assertEqual(self.cluster.allocate(claim(1), nodes=["node-b", "node-a"]).node, "node-b")

    def test_no_place_is_an_answer_with_reasons(self) -> None:
        answer = self.cluster.allocate(claim(3))
        self.assertFalse(answer.fits)
        free = {one.node: (one.requests[0].needed, one.requests[0].free) for one in answer.refusals}
        self.assertEqual(free, {"node-a": (3, 1), "node-b": (3, 2)})

    def test_devices_in_use_are_taken(self) -> None:
        used = {"devices": [{"driver": "gpu.example.com", "pool": "node-a", "device": "gpu-0"}]}
        self.assertEqual(self.cluster.allocate(claim(1), in_use=used).node, "node-b")

    def test_fits_says_it_by_node(self) -> None:
        self.assertEqual(self.cluster.fits(claim(2), ["node-b", "node-a"]), {"node-b": True, "node-a": False})

    def test_one_name_is_not_its_letters(self) -> None:
        self.assertEqual(self.cluster.fits(claim(2), "node-b"), {"node-b": True})
        self.assertEqual(self.cluster.fits(claim(1), (name for name in ("node-a", "node-b"))), {"node-a": True, "node-b": True})
        self.assertEqual(self.cluster.allocate(claim(2), "node-b").node, "node-b")
        self.assertEqual(self.cluster.fit(device_class="gpu", selectors="device.driver == 'other'").total.at_least, 0)
        self.assertEqual(self.cluster.what_if(without="Node/node-b", cordon="node-a").nodes_removed, ["node-b"])
        self.assertEqual(self.cluster.nodes_needed(device_class="gpu", copies=8, like="node-b").shapes[0].at_least, 3)

    def test_what_is_supposed_is_written_as_in_what_if(self) -> None:
        for supposing, fits in (
            ({"adding": node("node-c", 4)}, 7),
            ({"adding": json.dumps(node("node-c", 4)[1]), "without": ["Node/node-b"]}, 1),
            ({"taints": {"gpu.example.com/node-a/*": "broken=yes:NoSchedule"}}, 2),
            ({"cordon": "node-a"}, 2),
        ):
            self.assertEqual(self.cluster.fit(device_class="gpu", supposing=supposing).total.at_least, fits, supposing)
        with self.assertRaisesRegex(ValueError, "`wiht` is no change"):
            self.cluster.fit(device_class="gpu", supposing={"wiht": []})
        with self.assertRaisesRegex(ValueError, "not both"):
            self.cluster.fit(claim(1), device_class="gpu")
        with self.assertRaisesRegex(ValueError, "is needed"):
            self.cluster.fit()
        for no_claim in ("Pod/ml/training", pod("training", "training")):
            with self.assertRaisesRegex(ValueError, "a Pod is no claim or template"):
                self.cluster.fit(no_claim)

    def test_a_wrong_claim_and_a_long_search_are_errors(self) -> None:
        with self.assertRaises(apportion.FailedError) as failed:
            self.cluster.allocate(claim(1, device_class="nothing"))
        self.assertIn("nothing", str(failed.exception))
        with self.assertRaises(apportion.UnreadableError):
            self.cluster.allocate({"kind": "ResourceClaim", "spec": 5})
        short = Cluster(SMALL, max_steps=1)
        with self.assertRaises(apportion.GaveUpError):
            short.allocate(claim(2))
        with self.assertRaises(apportion.GaveUpError):
            short.fits(claim(2), ["node-a", "node-b"])

    def test_run_places_pods_and_leaves_the_cluster_alone(self) -> None:
        self.cluster.apply(claim(2), pod("training", "training"), claim(1, "more"), claim(3, "big"), pod("big", "big"))
        report = self.cluster.run()
        self.assertEqual({one.name: one.node for one in report.pods}, {"training": "node-b", "big": None})
        self.assertEqual([one.name for one in report.pending], ["big"])
        self.assertTrue(report.pending[0].reasons)
        self.assertEqual(self.cluster.usage().devices.used, 2)
        found = self.cluster.get("ResourceClaim/ml/training")
        assert found is not None
        self.assertNotIn("allocation", found.get("status", {}))

    def test_explain_names_the_cause(self) -> None:
        self.cluster.apply(claim(3, "big"), pod("big", "big"))
        (explanation,) = self.cluster.explain("Pod/ml/big")
        self.assertEqual((explanation.state, explanation.subject.name), ("noDevices", "big"))
        self.assertEqual((explanation.requests[0].needed, explanation.requests[0].best), (3, 2))
        self.assertTrue(any("2" in one.text for one in explanation.suggestions))
        self.assertIn("big", [one.subject.name for one in self.cluster.explain()])
        with self.assertRaises(apportion.UnreadableError):
            self.cluster.explain("Pod/ml/bigger")

    def test_fit_counts_a_named_a_given_and_a_described_claim(self) -> None:
        fit = self.cluster.fit(device_class="gpu")
        self.assertEqual((fit.total.at_least, fit.total.at_most), (3, 3))
        self.assertEqual({one.name: one.fits.at_least for one in fit.rows}, {"node-a": 1, "node-b": 2})
        self.assertEqual(self.cluster.fit(claim(2)).total.at_least, 1)
        self.cluster.apply(claim(1, "one"))
        self.assertEqual(self.cluster.fit("ResourceClaim/ml/one").total.at_least, 3)

    def test_it_says_how_many_nodes_are_needed(self) -> None:
        needed = self.cluster.nodes_needed(device_class="gpu", copies=8, like=["node-b"])
        shape = needed.shapes[0]
        self.assertEqual((needed.pods, needed.placed), (8, 3))
        self.assertEqual((shape.at_least, shape.at_most, len(shape.nodes)), (3, 3, 3))

    def test_what_if_says_who_moves(self) -> None:
        self.cluster.apply(claim(3, "big"), pod("big", "big"))
        difference = self.cluster.what_if(adding=node("node-c", 4))
        self.assertEqual(difference.nodes_added, ["node-c"])
        self.assertEqual([(one.pod, one.before, one.after) for one in difference.pods], [("ml/big", "pending", {"node": "node-c"})])
        gone = self.cluster.what_if(without=["Node/node-b"], taints={"gpu.example.com/node-a/*": "broken=yes:NoSchedule"})
        self.assertEqual(gone.nodes_removed, ["node-b"])

    def test_any_inquiry_has_its_json(self) -> None:
        snapshot = self.cluster.inquire("snapshot")
        self.assertEqual(snapshot["format"], "apportion/snapshot/v1")
        self.assertEqual(on(Cluster(snapshot["objects"]), 2), "node-b")


class Processes(unittest.TestCase):
    def test_answers_and_errors_go_from_process_to_process_and_clusters_do_not(self) -> None:
        cluster = Cluster(SMALL, claim(2), pod("training", "training"))
        report = cluster.run()
        sent = pickle.loads(pickle.dumps(report))
        self.assertEqual((sent, sent.raw), (report, report.raw))
        for fails in (lambda: cluster.explain("Pod/ml/nothing"), lambda: cluster.allocate(claim(1, device_class="nothing"))):
            with self.assertRaises(apportion.ApportionError) as raised:
                fails()
            again = pickle.loads(pickle.dumps(raised.exception))
            self.assertEqual((type(again), str(again), vars(again)), (type(raised.exception), str(raised.exception), vars(raised.exception)))
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "lives in its process"):
                copied(cluster)


@unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
class ForkedProcesses(unittest.TestCase):
    def in_a_child(self, work: Callable[[], object]) -> None:
        child = multiprocessing.get_context("fork").Process(target=work)
        with warnings.catch_warnings():
            # Threads and forks together are what is tested.
            warnings.simplefilter("ignore", DeprecationWarning)
            child.start()
        child.join(30)
        ended = child.exitcode
        child.kill()
        self.assertEqual(ended, 0, "`None` when the child hangs")

    def test_a_child_works_whatever_the_threads_of_its_parent_are_in(self) -> None:
        ask = apportion.instance.Instance.ask
        inside, leave = threading.Event(), threading.Event()

        def waiting(self: Any, *arguments: Any) -> bytes:
            if threading.current_thread() is busy:
                inside.set()
                leave.wait()
            return ask(self, *arguments)

        def work() -> None:
            self.assertTrue(apportion.cel("true", {"driver": "gpu.example.com"}))
            self.assertEqual(on(Cluster(SMALL), 2), "node-b")

        busy = threading.Thread(target=lambda: apportion.cel("true", {"driver": "gpu.example.com"}))
        with mock.patch.object(apportion.instance.Instance, "ask", waiting):
            busy.start()
            inside.wait()
            try:
                self.in_a_child(work)
            finally:
                leave.set()
                busy.join()

    def test_a_cluster_belongs_to_the_process_that_made_it(self) -> None:
        cluster = Cluster(SMALL)

        def work() -> None:
            with cluster, fork:
                for one in (cluster, fork):
                    with self.assertRaisesRegex(apportion.ApportionError, "belongs to the process that made it"):
                        one.usage()

        with cluster.fork() as fork:
            with cluster._home.lock:
                self.in_a_child(work)
            self.assertEqual((on(cluster, 2), on(fork, 2)), ("node-b", "node-b"))


class Interrupts(unittest.TestCase):
    def test_an_interrupt_leaves_the_cluster_usable(self) -> None:
        cluster = Cluster(SMALL)
        before = sys.gettrace()
        is_whole = False
        for number in range(200):
            left = number

            def interrupting(frame: FrameType, event: str, _: Any) -> Any:
                nonlocal left
                if frame.f_code.co_filename != apportion.cluster.__file__:
                    return None
                line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
                # The end of a `with` has a line event, but handles no signal.
                if event == "line" and not (line.strip().startswith("with ") and cluster._home.lock.locked()):
                    left -= 1
                    if left < 0:
                        raise KeyboardInterrupt
                return interrupting

            sys.settrace(interrupting)
            try:
                cluster.usage()
                is_whole = True
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(before)
            self.assertFalse(cluster._home.lock.locked(), number)
            if is_whole:
                break
        self.assertTrue(is_whole)
        self.assertGreater(number, 5)


class Copies(unittest.TestCase):
    def setUp(self) -> None:
        self.cluster = Cluster(SMALL)

    def test_a_fork_is_tried_out_and_dropped_or_committed(self) -> None:
        for commits, found in ((False, ""), (True, "node-c")):
            fork = self.cluster.fork()
            fork.apply(node("node-c", 3))
            self.assertEqual((on(fork, 3), on(self.cluster, 3)), ("node-c", ""))
            fork.commit() if commits else fork.close()
            self.assertEqual(on(self.cluster, 3), found)
            with self.assertRaises(apportion.ClosedError):
                on(fork, 1)

    def test_the_deletion_of_nothing_is_no_change(self) -> None:
        fork = self.cluster.fork()
        self.assertFalse(self.cluster.delete("ResourceSlice/nothing"))
        fork.commit()

    def test_a_commit_loses_no_change(self) -> None:
        fork = self.cluster.fork()
        self.cluster.delete("ResourceSlice/node-a")
        with self.assertRaises(apportion.ChangedError):
            fork.commit()
        with self.assertRaises(apportion.ApportionError):
            self.cluster.commit()

    def test_a_closed_cluster_answers_nothing(self) -> None:
        fork = self.cluster.fork()
        with self.cluster:
            pass
        for one in (self.cluster, fork):
            with self.assertRaises(apportion.ClosedError):
                on(one, 1)
        fork.close()

    def test_a_fork_goes_back_to_what_it_was(self) -> None:
        fork = self.cluster.fork()
        fork.apply(node("node-c", 3))
        with fork.fork() as inner:
            inner.apply(node("node-e", 3))
            inner.commit()
        fork.revert()
        self.assertEqual(on(fork, 3), "")
        fork.apply(node("node-d", 3))
        fork.commit()
        self.assertEqual(on(self.cluster, 3), "node-d")
        with self.assertRaises(apportion.ApportionError):
            self.cluster.revert()

    def test_after_a_trap_the_cluster_is_filled_again_and_forks_are_lost(self) -> None:
        with self.cluster.fork() as committed:
            committed.apply(node("node-c", 3))
            committed.commit()
        self.cluster.delete("ResourceSlice/node-b")
        fork = self.cluster.fork()
        with next_call_traps(), self.assertRaises(apportion.TrappedError):
            on(self.cluster, 1)
        self.assertEqual((self.cluster.rebuilds, on(self.cluster, 3), on(self.cluster, 2)), (1, "node-c", "node-c"))
        with self.assertRaises(apportion.ForkLostError):
            on(fork, 1)
        with next_call_traps(), self.assertRaises(apportion.TrappedError):
            self.cluster.fork().run()
        self.assertEqual((self.cluster.rebuilds, on(self.cluster, 3)), (2, "node-c"))

    def test_what_has_no_room_in_the_module_costs_the_call(self) -> None:
        fork = self.cluster.fork()
        instance = self.cluster._home.instance
        instance._store.set_limits(memory_size=instance._memory.data_len(instance._store))
        size = 32 << 20
        large = {**CLASS, "metadata": {"name": "large", "annotations": {"a": "x" * size}}}
        with self.assertRaisesRegex(apportion.TrappedError, "no room"):
            self.cluster.apply(large)
        self.assertEqual((self.cluster.rebuilds, on(self.cluster, 2)), (1, "node-b"))
        with self.assertRaises(apportion.ForkLostError):
            on(fork, 1)
        # The memory is found to be too small in the middle of a call, which is a trap of the module itself.
        instance = self.cluster._home.instance
        room = instance._memory.data_len(instance._store)
        instance._store.set_limits(memory_size=room + size * 3 // 2)
        with self.assertRaisesRegex(apportion.TrappedError, "unreachable"):
            self.cluster.apply(large)
        self.assertEqual((self.cluster.rebuilds, on(self.cluster, 2)), (2, "node-b"))

    def test_an_object_is_kept_under_the_key_that_deletes_it(self) -> None:
        requests = claim(1)["spec"]
        spaced = {"name": "x", "namespace": "ml"}
        self.cluster.apply(
            {"apiVersion": "v1", "kind": "Node", "metadata": spaced},
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "x"}, "spec": requests},
            {"apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate", "metadata": spaced, "spec": {"spec": requests}},
        )
        gone = ["Node/x", "ResourceClaim/default/x", "ClusterResourceClaimTemplate.apportion.dev/x"]
        for name in gone:
            self.assertTrue(self.cluster.delete(name), name)
        with next_call_traps(), self.assertRaises(apportion.TrappedError):
            on(self.cluster, 1)
        for name in gone:
            self.assertIsNone(self.cluster.get(name), name)
        self.assertEqual(on(self.cluster, 2), "node-b")

    def test_a_trap_in_a_question_about_no_cluster_costs_that_question(self) -> None:
        with next_call_traps(), self.assertRaises(apportion.TrappedError):
            apportion.cel("true", {"driver": "gpu.example.com"})
        self.assertTrue(apportion.cel("true", {"driver": "gpu.example.com"}))

    def test_a_fork_that_nobody_has_is_freed_by_the_next_call(self) -> None:
        freed: list[object] = []
        ask = apportion.instance.Instance.ask

        def noting(self: object, operation: object, *arguments: object) -> bytes:
            if operation == apportion.instance.Operation.CLOSE:
                freed.append(arguments)
            return ask(self, operation, *arguments)

        with mock.patch.object(apportion.instance.Instance, "ask", noting):
            on(self.cluster.fork(), 1)
            gc.collect()
            self.assertEqual(on(self.cluster, 2), "node-b")
        self.assertEqual(len(freed), 1)

    def test_a_cluster_that_cannot_be_filled_again_is_closed(self) -> None:
        with mock.patch.object(apportion.instance.Instance, "ask", side_effect=Trap("unreachable")):
            with self.assertRaisesRegex(apportion.TrappedError, "the cluster is closed"):
                on(self.cluster, 1)
            self.cluster.close()
        with self.assertRaises(apportion.ClosedError):
            on(self.cluster, 1)

    def test_many_threads_may_ask_at_once(self) -> None:
        found: list[str] = []

        def work() -> None:
            for _ in range(5):
                with self.cluster.fork() as fork:
                    found.append(on(fork, 2))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(found, ["node-b"] * 40)


if __name__ == "__main__":
    unittest.main()
