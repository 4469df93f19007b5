"""What answers depend on beside the question and the model: a run is not gone on with under anything else."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files

from pydantic import JsonValue

from personable.settings import Settings

ANSWERING = (
    *("agents_model", "fallback_model", "model_context", "model_timeout", "max_tokens"),
    *("embedder", "reranker", "language", "candidates", "passages", "passage_tokens", "overlap_tokens"),
    *("budget_calls", "budget_tokens", "budget_seconds", "quote_words", "answer_words", "item_retrieval"),
)
"""The settings that answers depend on."""


def answering(settings: Settings) -> dict[str, JsonValue]:
    """Those settings, by name."""
    return settings.model_dump(mode="json", include=set(ANSWERING))


def prompt_version(*folders: str) -> str:
    """12 hex digits for all prompt files of these folders."""
    found = [file for folder in folders for file in (files("personable.prompts") / folder).iterdir()]
    texts = [file.read_text("utf-8") for file in sorted(found, key=str) if file.name.endswith(".md")]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def fingerprint(settings: Settings, prompts: str, *more: str) -> str:
    """12 hex digits for those settings, the prompt files of the folder `prompts`, and whatever else counts."""
    told = json.dumps([answering(settings), prompt_version(prompts), more], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]
