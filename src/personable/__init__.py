"""Personalised retrieval-augmented generation. The public names; each is loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from personable.board import Board as Board
    from personable.errors import PersonableError as PersonableError
    from personable.kit import Kit as Kit
    from personable.kit import open_kit as open_kit
    from personable.pipelines.answer import answer as answer
    from personable.pipelines.asked import ask as ask
    from personable.settings import Settings as Settings
    from personable.settings import load_settings as load_settings
    from personable.types import Answer as Answer
    from personable.types import Citation as Citation
    from personable.types import Passage as Passage
    from personable.types import Question as Question

_HOMES = {
    "Answer": "types",
    "Board": "board",
    "Citation": "types",
    "Kit": "kit",
    "Passage": "types",
    "PersonableError": "errors",
    "Question": "types",
    "Settings": "settings",
    "answer": "pipelines.answer",
    "ask": "pipelines.asked",
    "load_settings": "settings",
    "open_kit": "kit",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'personable' has no attribute {name!r}")
    return getattr(import_module(f"personable.{_HOMES[name]}"), name)
