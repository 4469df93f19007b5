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
    from personable.pipelines.certify import certify as certify
    from personable.pipelines.converse import converse as converse
    from personable.pipelines.recommend import recommend as recommend
    from personable.pipelines.shop import open_shop as open_shop
    from personable.retrieval.cards import open_cards as open_cards
    from personable.settings import Settings as Settings
    from personable.settings import load_settings as load_settings
    from personable.types import Answer as Answer
    from personable.types import Citation as Citation
    from personable.types import Passage as Passage
    from personable.types import PastTurn as PastTurn
    from personable.types import Question as Question
    from personable.types import Recommendations as Recommendations
    from personable.types import Wish as Wish

_HOMES = {
    "Answer": "types",
    "Board": "board",
    "Citation": "types",
    "Kit": "kit",
    "Passage": "types",
    "PastTurn": "types",
    "PersonableError": "errors",
    "Question": "types",
    "Recommendations": "types",
    "Settings": "settings",
    "Wish": "types",
    "answer": "pipelines.answer",
    "ask": "pipelines.asked",
    "certify": "pipelines.certify",
    "converse": "pipelines.converse",
    "load_settings": "settings",
    "open_cards": "retrieval.cards",
    "open_kit": "kit",
    "open_shop": "pipelines.shop",
    "recommend": "pipelines.recommend",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'personable' has no attribute {name!r}")
    return getattr(import_module(f"personable.{_HOMES[name]}"), name)
