"""What a collection was made with, written once when it is made: `manifest.json` in its folder."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from personable.embed import Embedder
from personable.errors import ConfigurationError, DataError, NotFoundError
from personable.types import Value

FORMAT = 1


class Manifest(Value):
    """`embedder`, `dim` and `digest` are "", 0 and "" for a collection without vectors."""

    format: int = FORMAT
    language: str
    embedder: str = ""
    dim: int = 0
    digest: str = ""


def read_manifest(folder: Path) -> Manifest:
    """Raises NotFoundError without one, DataError if it is damaged, ConfigurationError for another format."""
    path = folder / "manifest.json"
    if not path.is_file():
        raise NotFoundError(f"no collection at {folder}; make one with `personable index PATH`")
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        found = stored.get("format") if isinstance(stored, dict) else None
        if found != FORMAT:
            raise ConfigurationError(
                f"the collection at {folder} is of format {found}, this version reads {FORMAT}; index again"
            )
        return Manifest.model_validate(stored)
    except (ValueError, ValidationError) as error:
        raise DataError(f"{path} is damaged ({error}); delete the folder and index again") from error


def write_manifest(folder: Path, language: str, embedder: Embedder | None) -> Manifest:
    """Write the manifest of a new collection into its folder."""
    manifest = Manifest(language=language)
    if embedder is not None:
        manifest = Manifest(language=language, embedder=embedder.name, dim=embedder.dim, digest=embedder.digest)
    new = folder / "manifest.new"
    new.write_text(manifest.model_dump_json(indent=2), encoding="utf-8")
    new.replace(folder / "manifest.json")
    return manifest


def check_manifest(
    folder: Path, manifest: Manifest, language: str | None, embedder: Embedder | None, write: bool
) -> None:
    """Raises ConfigurationError if the collection was made for another language or with another embedder."""
    if language is not None and language != manifest.language:
        raise ConfigurationError(
            f"the collection at {folder} was indexed for language {manifest.language!r}, not {language!r}: "
            "leave the language out, or index into a new collection"
        )
    made = f"{manifest.embedder} ({manifest.dim} dimensions)" if manifest.embedder else "no embedder"
    if embedder is None:
        if write and manifest.embedder:
            raise ConfigurationError(f"the collection at {folder} was indexed with {made}: add to it with the same")
        return
    asked = (embedder.name, embedder.dim, embedder.digest)
    if asked != (manifest.embedder, manifest.dim, manifest.digest):
        same = "another version of its model, " if embedder.name == manifest.embedder else ""
        raise ConfigurationError(
            f"the collection at {folder} was indexed with {made}, {same}not with {embedder.name} ({embedder.dim} "
            f"dimensions): set embedder to {manifest.embedder or 'none'!r}, or index into a new collection"
        )
