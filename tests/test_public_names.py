import asyncio
from pathlib import Path

import pytest

import personable
from personable.embed import make_embedder
from personable.errors import NotFoundError, UsageError
from personable.retrieval.corpus import open_collection


def test_the_public_names_are_these() -> None:
    assert sorted(personable.__all__) == [
        "Answer",
        "Board",
        "Citation",
        "Kit",
        "Passage",
        "PastTurn",
        "PersonableError",
        "Question",
        "Recommendations",
        "Settings",
        "Wish",
        "answer",
        "ask",
        "certify",
        "converse",
        "load_settings",
        "open_cards",
        "open_kit",
        "open_shop",
        "recommend",
    ]
    assert all(getattr(personable, name) is not None for name in personable.__all__)


def test_any_other_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        personable.nonsense  # noqa: B018


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "gout.md").write_text("Gout is caused by uric acid crystals.", encoding="utf-8")
    with open_collection(tmp_path / "home", "default", embedder=make_embedder("hash:64"), create=True) as collection:
        collection.index([tmp_path / "gout.md"])
    return tmp_path / "home"


def test_ask_answers_without_async(home: Path) -> None:
    assert "uric acid" in personable.ask("What causes gout?", home=home, embedder="hash:64").text


def test_ask_takes_the_only_collection(home: Path) -> None:
    (home / "collections" / "default").rename(home / "collections" / "cards")
    assert "uric acid" in personable.ask("What causes gout?", home=home, embedder="hash:64").text


def test_ask_says_which_collections_it_could_take(home: Path) -> None:
    for name in ("cards", "notes"):
        open_collection(home, name, create=True).store.close()
    (home / "collections" / "default").rename(home / "collections" / "more")
    with pytest.raises(UsageError, match="cards, more, notes"):
        personable.ask("q", home=home, embedder="hash:64")


async def test_ask_answers_inside_a_running_loop(home: Path) -> None:
    assert asyncio.get_running_loop().is_running()
    assert "uric acid" in personable.ask("What causes gout?", home=home, embedder="hash:64").text


def test_ask_raises_what_the_library_raises(home: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        personable.ask("q", collection="nowhere", home=home, embedder="hash:64")
