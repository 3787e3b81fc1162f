"""Answers as pandas frames. pandas is imported when the first frame is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from .records import Record


def row(record: Record, **instead: Any) -> dict[str, Any]:
    """The fields of a record, some with another value."""
    values = {one.name: getattr(record, one.name) for one in fields(record)}  # type: ignore[arg-type]
    return values | instead


def frame(
    kind: type[Record], rows: list[dict[str, Any]], first: Sequence[str] = (), columns: Sequence[str] = ()
) -> pandas.DataFrame:
    """A frame of rows, which has its columns even when there is no row: the fields of `kind` unless `columns` are given."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames need pandas: pip install 'apportion[pandas]'") from error
    names = columns or [*first, *(one.name for one in fields(kind))]  # type: ignore[arg-type]
    return pandas.DataFrame(rows, columns=list(names))
