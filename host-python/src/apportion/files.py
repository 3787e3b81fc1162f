"""The files of a folder, as the command line finds them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

#: What a file of manifests ends with.
ENDINGS = {".yaml", ".yml", ".json"}

#: Folders below a folder; symbolic links can make a circle.
_MAX_DEPTH = 32


def manifests(folder: Path) -> list[Path]:
    """The files below a folder that are named as manifests are, hidden ones included, by name. `OSError` when there is none, or one cannot be
    read."""
    found = list(_below(folder, _MAX_DEPTH))
    if not found:
        raise FileNotFoundError(f"folder `{folder}` holds no .yaml, .yml or .json file")
    return found


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if depth == 0:
        raise OSError(f"folders below `{folder}` are nested too deeply")
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        is_manifest = path.suffix in ENDINGS
        try:
            mode = path.stat().st_mode
        except OSError:
            # A dangling link that is no manifest does not matter.
            if is_manifest:
                raise
            continue
        if stat.S_ISDIR(mode):
            if not _leads_back(path):
                yield from _below(path, depth - 1)
        elif is_manifest and not stat.S_ISREG(mode):
            # A pipe may have no end, or nobody who writes to it.
            raise OSError(f"`{path}` cannot be read: it is neither a file nor a folder")
        elif is_manifest:
            yield path


def _leads_back(path: Path) -> bool:
    """Whether a path is a link to a folder that it is in."""
    return path.is_symlink() and path.parent.resolve().is_relative_to(path.resolve())
