"""Asks the component in wasmtime's host for Python: objects as JSON texts in, placements out.

Arguments: the component. Standard input: a JSON list of objects, each a JSON text.
"""

import json
import sys

from wasmtime import Config, Engine, Store
from wasmtime.component import Component, Linker, Record, Variant

engine = Engine(Config())
store = Store(engine)
component = Component.from_file(engine, sys.argv[1])
instance = Linker(engine).instantiate(store, component)


def function(name: str):
    """A function of the interface `decisions`."""
    interface = instance.get_export_index(store, "apportion:dra/decisions@0.1.0")
    return instance.get_func(store, instance.get_export_index(store, name, interface))


def record(**fields):
    """A WIT record."""
    made = Record()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def call(name: str, *arguments):
    """Calls a function to its very end."""
    called = function(name)
    answer = called(store, *arguments)
    called.post_return(store)
    return answer


profile = record(version="all", patch=None, gates=[], mode="sound", placement="first")
cluster = call("[static]cluster.create", profile, record(**{"max-steps": 1_000_000}))
findings = call("[method]cluster.apply", cluster, json.load(sys.stdin))
assert not any(findings), findings
report = call("[method]cluster.run", cluster)
json.dump(
    {
        "pods": [[pod.name, pod.node] for pod in report.pods],
        "claims": [[claim.name, [f"{one.id.pool}/{one.id.device}" for one in claim.devices]] for claim in report.claims],
    },
    sys.stdout,
)
