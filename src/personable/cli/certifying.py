"""`certify`, and what `index --certified` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personable.cli.options import print_json

if TYPE_CHECKING:
    from personable.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""


def index_certified(conf: Settings, paths: list[Path], name: str, *, named_embedder: str | None, json: bool) -> None:
    """Make the collection `name` mirror a manifest's documents, with its own embedder unless another is named."""
    from personable.cli.collections import show_report
    from personable.errors import UsageError
    from personable.kit import open_embedder
    from personable.retrieval.certified import read_approval
    from personable.retrieval.certifying import certify_documents
    from personable.retrieval.corpus import open_collection
    from personable.retrieval.report import IndexOptions

    if len(paths) != 1:
        raise UsageError("--certified takes one manifest: personable index MANIFEST.toml --certified --into NAME")
    manifest = read_approval(paths[0])
    if manifest.embedder and named_embedder is None:
        conf = conf.model_copy(update={"embedder": manifest.embedder})
    options = IndexOptions(passage_tokens=conf.passage_tokens, overlap_tokens=conf.overlap_tokens)
    with open_collection(
        conf.home, name, language=manifest.language, embedder=open_embedder(conf), create=True
    ) as collection:
        report = certify_documents(collection.store, paths[0], options)
    print_json(report) if json else show_report(report, name)
