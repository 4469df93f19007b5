"""The commands around catalogues, from a file of items to recommendations."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from personable.cli import app
from personable.errors import DataError, NotFoundError, PersonableError, UsageError
from personable.people.events import Event
from personable.people.store import People
from personable.retrieval.choice import FEWEST
from personable.types import Wish

pytestmark = pytest.mark.slow


def invoke(home: Path, *arguments: str) -> str:
    """What the command prints; errors meant for the user are raised."""
    done = CliRunner().invoke(app, [*arguments, "--home", str(home)])
    if isinstance(done.exception, PersonableError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERSONABLE_EMBEDDER", "hash:64")
    titles = ("red ink", "blue ink", "black ink", "oak desk", "oak chair", "wall clock")
    lines = [json.dumps({"id": str(n), "title": title, "price": f"${n + 1}.50"}) for n, title in enumerate(titles)]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join([*lines, '{"id": "0", "title": "double"}']), encoding="utf-8")
    report = json.loads(invoke(tmp_path, "index", str(path), "--items", "--into", "shop", "--json"))
    assert report["added"] == 6
    assert "used before" in report["failed"][0]["error"]
    invoke(tmp_path, "person", "add", "ana")
    return tmp_path


def test_from_deeds_to_recommendations(home: Path) -> None:
    assert json.loads(invoke(home, "did", "ana", "click", "0", "--json")) == {"recorded": 1}
    shown = invoke(home, "recommend", "--person", "ana", "--from", "shop", "-k", "2")
    assert "1. " in shown
    assert "because you looked at red ink" in shown
    found = json.loads(invoke(home, "recommend", "--person", "ana", "-k", "2", "--max-price", "3", "--json", "--trace"))
    assert [one["item"] for one in found["items"]] == ["1"]
    assert found["items"][0]["price"] == 2.5
    assert [post["content"]["kind"] for post in found["board"]][:3] == ["wish", "deeds", "candidates"]
    again = json.loads(invoke(home, "recommend", "--person", "ana", "-k", "6", "--again", "--json"))
    assert "0" in [one["item"] for one in again["items"]]


def test_a_wish_in_words_and_its_trace(home: Path) -> None:
    shown = invoke(home, "recommend", "a chair of oak", "-k", "1", "--trace")
    assert "oak chair" in shown
    assert "you asked for: a chair of oak" in shown
    assert "retriever candidates" in shown


def test_nothing_fits(home: Path) -> None:
    assert "nothing in the catalogue fits" in invoke(home, "recommend", "--category", "Garden")


def test_what_makes_no_sense_is_refused(home: Path) -> None:
    with pytest.raises(UsageError, match="nothing that one does"):
        invoke(home, "did", "ana", "eat", "0")
    with pytest.raises(DataError, match="weights need"):
        invoke(home, "tune")


@pytest.mark.parametrize(
    ("kind", "item", "value", "says"),
    [
        ("rating", "0", None, "a rating without a value: a dwell has seconds"),
        ("rating", "0", "99", "a rating of 99"),
        ("thumbs", "0", "7", "a thumbs of 7"),
        ("dwell", "0", "-5", "a dwell of -5"),
        ("dwell", "0", "nan", "a dwell of nan"),
        ("dwell", "0", "inf", "a dwell of inf"),
        ("click", "0", "nan", "a click of nan"),
        ("click", "", None, "the id of an item is empty"),
        ("click", "x" * 100_000, None, "the id of an item has 100,000 characters"),
        ("click", "caf\udcff", None, "the id of an item holds"),
    ],
)
def test_deeds_that_make_no_sense_are_refused(home: Path, kind: str, item: str, value: str | None, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        invoke(home, "did", "ana", kind, item, *([] if value is None else [f"--value={value}"]))
    assert json.loads(invoke(home, "person", "events", "ana", "--json")) == []


def test_an_item_that_the_only_catalogue_does_not_hold_is_told_and_kept(home: Path) -> None:
    def did(*items: str) -> str:
        done = CliRunner().invoke(app, ["did", "ana", "purchase", *items, "--home", str(home)])
        assert done.exit_code == 0
        assert f"{len(items)} recorded" in done.stdout
        return done.stderr

    assert did("0", "B9") == "note: the catalogue shop holds no item 'B9'; it counts once it does\n"
    assert did("0") == ""
    assert "purchase\tB9" in invoke(home, "person", "show", "ana")
    (home / "more.jsonl").write_text('{"id": "B8", "title": "Mug"}', encoding="utf-8")
    invoke(home, "index", str(home / "more.jsonl"), "--items", "--into", "more")
    assert did("B9") == ""
    with pytest.raises(UsageError, match="--from on the command line"):
        invoke(home, "recommend")


def test_a_deed_belongs_to_its_catalogue(home: Path) -> None:
    path = home / "garden.jsonl"
    titles = ("pruning shears", "rose shears", "watering can", "red ink")
    path.write_text("\n".join(json.dumps({"id": str(n), "title": t}) for n, t in enumerate(titles)), encoding="utf-8")
    invoke(home, "did", "ana", "purchase", "0")  # the only catalogue: red ink of the shop
    invoke(home, "index", str(path), "--items", "--into", "garden")
    invoke(home, "did", "ana", "purchase", "1", "--from", "garden")
    garden = json.loads(invoke(home, "recommend", "--person", "ana", "--from", "garden", "-k", "9", "--json"))
    assert garden["items"][0]["item"] == "0", "shears that nobody bought, like those that were bought"
    assert "because you bought rose shears" in garden["items"][0]["reasons"][0]["text"]
    shop = json.loads(invoke(home, "recommend", "--person", "ana", "--from", "shop", "-k", "9", "--json"))
    assert {one["item"] for one in shop["items"]} == {"1", "2", "3", "4", "5"}
    assert not any("shears" in reason["text"] for one in shop["items"] for reason in one["reasons"])
    with pytest.raises(NotFoundError, match="nowhere"):
        invoke(home, "did", "ana", "purchase", "1", "--from", "nowhere")


def test_half_a_character_ends_in_no_crash(home: Path) -> None:
    assert "1. " in invoke(home, "recommend", "caf\udcff", "--from", "shop")
    with pytest.raises(UsageError, match="session"):
        invoke(home, "recommend", "--session", "caf\udcff", "--from", "shop")
    for field in ("query", "session"):
        with pytest.raises(ValidationError, match="unicode"):
            Wish(**{field: "caf\ud800"})


def test_a_catalogue_takes_no_documents(home: Path) -> None:
    (home / "a.md").write_text("Some text about ink.", encoding="utf-8")
    with pytest.raises(DataError, match="'shop' holds items"):
        invoke(home, "index", str(home / "a.md"), "--into", "shop")
    assert "1. " in invoke(home, "recommend", "--from", "shop")
    with pytest.raises(UsageError, match="--items and --certified"):
        invoke(home, "index", str(home / "a.md"), "--items", "--certified")


@pytest.mark.parametrize(
    "content", ["", "[]", "\0", '{"weights": {}, "choices": 3}', '{"weights": {"words": 1.0}, "choices": 3}']
)
def test_weights_that_cannot_be_read_are_told_and_made_again(home: Path, content: str) -> None:
    path = home / "collections" / "shop" / "weights.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="make them again: personable tune"):
        invoke(home, "recommend", "--from", "shop")
    with pytest.raises(DataError, match="weights need"):
        invoke(home, "tune")


def test_tuning_replaces_weights_that_cannot_be_read(home: Path) -> None:
    async def choose() -> None:
        async with await People.open(home / "people.db") as people:
            for person in (f"p{n}" for n in range(FEWEST)):
                await people.add(person)
                await people.record_many(Event(person=person, kind="purchase", item=item) for item in "012")

    asyncio.run(choose())
    (home / "collections" / "shop" / "weights.json").write_text("{", encoding="utf-8")
    shown = invoke(home, "tune")
    assert f"unfitted weights are kept: on {FEWEST} choices" in shown, "all choose the same: a fit is not better"
    assert "a fit has nDCG@5 1.000, unfitted 1.000" in shown
    assert "1. " in invoke(home, "recommend", "--from", "shop")


def test_a_collection_of_documents_is_no_catalogue(home: Path) -> None:
    (home / "a.md").write_text("Some text about ink.", encoding="utf-8")
    invoke(home, "index", str(home / "a.md"), "--into", "docs")
    with pytest.raises(DataError, match="no item of a catalogue"):
        invoke(home, "recommend", "--from", "docs")
