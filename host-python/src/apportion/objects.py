"""What users have of a cluster, as JSON texts: dicts, YAML text, files, objects of the package `kubernetes`."""

from __future__ import annotations

import codecs
import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .files import ENDINGS, manifests
from .instance import Operation, ask_once
from .kinds import CONFIGURATION, CONFIGURATION_NAME, SOURCE, group_of, is_namespaced
from .records import Finding, ObjectRef, read

codecs.register_error("apportion-refused", lambda error: ("\x01", error.end))  # type: ignore[attr-defined]

#: What the name of a file hardly has, and YAML with an object in it has.
_OF_YAML = re.compile(r"[\n:{\[#]")


@dataclass(frozen=True)
class Item:
    """One object: what it is called, and its JSON text."""

    ref: ObjectRef
    text: bytes
    #: Set instead of the text when the object cannot be written as JSON.
    finding: Finding | None = None


@dataclass
class Items:
    """All that was read of some sources."""

    items: list[Item] = field(default_factory=list)
    #: What the reader says of texts: documents that `kubectl` refuses are findings of severity `error`, and left out.
    findings: list[Finding] = field(default_factory=list)
    #: Files of folders in which nothing has a kind.
    skipped: list[str] = field(default_factory=list)
    #: Each file is read once.
    seen: set[Path] = field(default_factory=set)


def items(sources: Iterable[Any]) -> Items:
    """The objects of sources, in their order.

    A source is an object (a dict, or an object of the package `kubernetes`), a list of the API, a text or bytes with YAML or JSON documents, a
    `pathlib.Path` of a file or of a folder with such files, an open file, or an iterable of sources. `TypeError` for anything else.
    """
    found = Items()
    for source in sources:
        _add(found, source)
    return found


def _add(found: Items, source: Any) -> None:
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    if isinstance(source, str) and not _OF_YAML.search(source) and ("/" in source or Path(source).suffix in ENDINGS):
        raise ValueError(f"`{source}` is no object: give pathlib.Path({source!r}) for a file or folder, else a dict or its text")
    if isinstance(source, (str, bytes)):
        _add_text(found, source)
    elif isinstance(source, Path):
        _add_path(found, source)
    elif isinstance(source, Mapping):
        _add_object(found, source)
    elif _is_model(source):
        _add_object(found, _plain_model(source))
    elif _can(source, "tolist"):
        _add(found, source.tolist())
    elif _can(source, "to_dict"):
        _add_object(found, source.to_dict())
    elif hasattr(source, "read"):
        _add_text(found, source.read())
    elif isinstance(source, Iterable):
        for one in source:
            _add(found, one)
    else:
        raise TypeError(f"a {type(source).__name__} is no object: a dict, YAML text, a Path or an object of `kubernetes` is needed")


def _add_path(found: Items, path: Path) -> None:
    is_folder = path.is_dir()
    for file in manifests(path) if is_folder else [path]:
        if (place := file.resolve()) not in found.seen:
            found.seen.add(place)
            _add_text(found, file.read_bytes(), str(file), is_folder)


def _add_text(found: Items, text: str | bytes, file: str | None = None, is_found: bool = False) -> None:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    # What is no text becomes a character that the reader refuses, and costs the document that has it.
    text = text.decode("utf-8", "apportion-refused").encode()
    answer = ask_once(Operation.READ, text)
    findings = [read(Finding, {"file": file, **one}) for one in answer["findings"]]
    objects = answer["objects"]
    is_whole = all(one.severity != "error" for one in findings)
    if file is not None and is_found and is_whole and objects and not any(_is_manifest(one) for one in objects):
        found.skipped.append(file)
        return
    found.findings += findings
    found.items += [_item(one) for one in objects]


def _is_manifest(value: Any) -> bool:
    """Whether a document is meant to be an object: it has a kind, or an API version where only the kind was forgotten."""
    if not isinstance(value, Mapping):
        return False
    kind, version = value.get("kind"), value.get("apiVersion")
    is_versioned = isinstance(version, str) and (version.find("/") > 0 or version == "v1" and "metadata" in value)
    return isinstance(kind, str) and kind != "" or is_versioned


def _add_object(found: Items, value: Mapping[str, Any]) -> None:
    if str(value.get("kind", "")).endswith("List") and "items" in value:
        # The reader takes lists apart.
        whole = _item(value)
        if whole.finding is None:
            _add_text(found, whole.text)
            return
    found.items.append(_item(value))


def _item(value: Any) -> Item:
    ref = _ref(value)
    try:
        # Within a text that is written like this there is no control character.
        return Item(ref, json_text(value))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the object cannot be written as JSON: {error}"
        return Item(ref, b"", Finding("read/bad-json", "error", message, object=ref))


def _ref(value: Any) -> ObjectRef:
    value = value if isinstance(value, Mapping) else {}
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    parts = (value.get("kind"), metadata.get("namespace"), metadata.get("name"))
    kind, namespace, name = (part if isinstance(part, str) else "" for part in parts)
    is_source = SOURCE == f"{kind}.{str(value.get('apiVersion')).partition('/')[0]}"
    return ObjectRef(SOURCE if is_source else kind, namespace, name)


def kept(ref: ObjectRef) -> ObjectRef:
    """The name under which the module keeps an object."""
    if ref.kind == CONFIGURATION:
        return ObjectRef(ref.kind, "", CONFIGURATION_NAME)
    return ObjectRef(ref.kind, ref.namespace or "default" if is_namespaced(ref.kind) else "", ref.name)


def json_text(value: Any) -> bytes:
    """JSON of what Python has; `TypeError` or `ValueError` for what JSON has not, such as NaN."""
    return json.dumps(value, default=_plain, allow_nan=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """What the JSON writer does not know: times, numbers of numpy, and parts that are objects of `kubernetes`."""
    if isinstance(value, datetime.datetime):
        utc = value.astimezone(datetime.timezone.utc) if value.tzinfo else value
        return utc.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if _is_model(value):
        # An object among those of a line of a batch; a part of an object has no metadata or no kind.
        is_object = {"kind", "metadata"} <= set(value.attribute_map.values())
        return _plain_model(value) if is_object else _plain_fields(value)
    for name in ("tolist", "to_dict"):
        if _can(value, name):
            return getattr(value, name)()
    raise TypeError(f"a {type(value).__name__} is no value of JSON")


def _is_model(value: Any) -> bool:
    """Whether this is an object of the package `kubernetes`, which need not be installed."""
    return isinstance(getattr(type(value), "attribute_map", None), Mapping) and hasattr(type(value), "openapi_types")


def _can(value: Any, name: str) -> bool:
    """Whether it has a method. Its class is asked: objects of the dynamic client say yes to every name."""
    return callable(getattr(type(value), name, None))


def _plain_fields(model: Any) -> dict[str, Any]:
    fields = ((key, getattr(model, name)) for name, key in model.attribute_map.items())
    return {key: value for key, value in fields if value is not None}


def _plain_model(model: Any) -> dict[str, Any]:
    """An object of `kubernetes` as JSON has it. Objects out of a list do not say what they are; their class does."""
    value = _plain_fields(model)
    if "kind" not in value or "apiVersion" not in value:
        # `V1Pod`, `V1beta1DeviceClass`, `ResourceV1ResourceClaim`
        named = re.fullmatch(r"(?:[A-Z][a-z]+)?V(\d+(?:(?:alpha|beta)\d+)?)([A-Z]\w*)", type(model).__name__)
        if named:
            kind = named[2]
            group = group_of(kind.removesuffix("List"))
            version = f"v{named[1]}"
            value = {"apiVersion": f"{group}/{version}" if group else version, "kind": kind} | value
    metadata = value.get("metadata")
    if _is_model(metadata):
        value["metadata"] = _plain_fields(metadata)
    return value
