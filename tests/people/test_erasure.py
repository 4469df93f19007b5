"""Erasing a person, and the receipt that says what was found afterwards."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from personable.board import Board
from personable.evaluation.outcome import Outcome
from personable.evaluation.outcome import Record as RunRecord
from personable.llm.base import Prompt
from personable.llm.recorded import RecordedModel, RecordingModel
from personable.llm.scripted import ScriptedModel
from personable.notes import HistoryNote, QuestionNote, WishNote
from personable.people import database
from personable.people.erasure import erase
from personable.people.events import Event
from personable.people.receipt import Receipt
from personable.people.store import People
from personable.types import Answer, Citation, PastTurn, Question, Recommendations, Used, Wish
from tests.stores import new_people

pytestmark = pytest.mark.slow

ID, NAME = "ana", "Anastasia Quintessa"
TOLD, ASKED, SEARCHED = "I am allergic to marigold", "May I drink zanzibar tea?", "xylophone clinic opening hours"
GONE = (TOLD, ASKED, SEARCHED, NAME, '"person":"ana"')


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
async def people(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[People]:
    patient = tuple(one for one in database._PRAGMAS if "busy" not in one)
    monkeypatch.setattr(database, "_PRAGMAS", ("busy_timeout = 200", *patient))
    async with await new_people(home / "people.db") as store:
        for person in (ID, "bob"):
            await live(store, person)
        yield store


async def live(people: People, person: str) -> None:
    told, asked, searched, name = (text if person == ID else text[::-1] for text in (TOLD, ASKED, SEARCHED, NAME))
    await people.add(person, name)
    statement = await people.tell(person, told)
    await people.record(Event(person=person, kind="query", session="s", text=searched))
    await people.add_turn(person, "s", asked, "No.")
    answer = Answer(id=f"answer {person}", question=asked, text="No.", person=person)
    used = Used(statement=statement.id, text=told)
    kept = answer.model_copy(update={"used": [used]}).model_dump_json()
    await people.save_answer(answer.id, person, "s", kept, Question(text=asked, person=person).model_dump_json())


async def recording(path: Path, *texts: str) -> None:
    model = RecordingModel(ScriptedModel("yes"), path)
    for text in texts:
        await model.write(Prompt(system="s", shared=f"<person>- {text}</person>", task="t"))
    await model.close()


def run_of(folder: Path, *questions: Question) -> Path:
    folder.mkdir(parents=True)
    lines = [
        RunRecord(
            id=str(n), index=n, question=one.text, answers=(), relevant={}, outcome=Outcome(board=one.model_dump())
        ).model_dump_json()
        for n, one in enumerate(questions)
    ]
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def still_in(*places: Path) -> list[str]:
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() for path in files).lower()
    return [text for text in GONE if text.lower().encode() in content]


async def test_nothing_of_the_person_is_left_and_everything_of_others_is(
    people: People, home: Path, tmp_path: Path
) -> None:
    run = run_of(tmp_path / "runs" / "one", Question(text="What is it?", person="ana"), Question(text="Why?"))
    await people.register_run(run)
    await people.register_run(tmp_path / "deleted since")
    tapes = (home / "recorded.jsonl", run / "model.jsonl")
    for tape in tapes:
        await recording(tape, TOLD, "I like tea", f"They asked: {ASKED}")
    before = await people.export("bob")
    assert set(still_in(home, run)) == set(GONE)

    receipt = await erase(people, home, ID)

    assert still_in(home, run) == []
    assert receipt.clean
    assert (receipt.left, receipt.unread, receipt.documents, receipt.shared) == ([], [], [], 0)
    assert receipt.removed["statements"] == receipt.removed["people"] == receipt.removed["answers"] == 1
    assert {(place.path, place.kind, place.records) for place in receipt.places} == {
        (str(home), "home", 2),
        (str(run), "run", 3),
    }
    assert all(place.files and place.bytes for place in receipt.places)
    assert [person.id for person in await people.list()] == ["bob"]
    assert await people.export("bob") == before
    assert len((run / "results.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    for tape in tapes:
        kept = RecordedModel(tape, "scripted")
        assert (await kept.write(Prompt(system="s", shared="<person>- I like tea</person>", task="t"))).text == "yes"


async def test_wishes_and_comments_of_every_kind_are_searched_for_and_titles_are_not(
    people: People, home: Path
) -> None:
    title = "The leaflet about marigold tea"
    board, other = Board("w"), Board("q")
    board.post("person", WishNote(wish=Wish(person=ID, query="a lamp for my quokka")))
    other.post("person", QuestionNote(question=Question(text="Since my quokka is ill: why?", person=ID)))
    other.post("person", HistoryNote(turns=[PastTurn(utterance="my quokka and I moved house")]))
    cited = [Citation(number=1, passage_id="p", title=title)]
    answer = Answer(id="q", question="Why?", text="So [1].", person=ID, citations=cited).model_dump_json()
    await people.save_answer(
        "w", ID, None, Recommendations(id="w", person=ID, items=[]).model_dump_json(), board.to_json()
    )
    await people.save_answer("q", ID, None, answer, other.to_json())
    texts = ["my quokka liked this", "no quokka would read this", "my quokka told me so"]
    for kind, value, text in zip(("thumbs", "rating", "click"), (1, 2, None), texts, strict=True):
        await people.record(Event(person=ID, kind=kind, value=value, text=text, answer="q"))
    for kind in ("click", "impression"):
        await people.record(Event(person=ID, kind=kind, text=title, answer="q"))
    odd = '{"posts": [7, {"content": {"kind": "wish"}}, {"content": {"kind": "history", "turns": [null]}}]}'
    await people.save_answer("odd", ID, None, '{"used": [{}], "citations": 3}', odd)
    (home / "leaflet.md").write_text(title, encoding="utf-8")
    texts += ["a lamp for my quokka", "Since my quokka is ill: why?", "my quokka and I moved house"]
    await recording(home / "recorded.jsonl", *texts)
    (home / "copied.txt").write_text("\n".join(texts), encoding="utf-8")

    receipt = await erase(people, home, ID)

    assert (home / "recorded.jsonl").read_bytes() == b""
    assert [(one.file, one.texts) for one in receipt.left] == [(str(home / "copied.txt"), len(texts))]


async def test_the_receipt_holds_no_personal_text_and_its_digest_holds_it_together(people: People, home: Path) -> None:
    (home / f"{NAME}.txt").write_text(TOLD, encoding="utf-8")
    receipt = await erase(people, home, ID)
    printed = receipt.model_dump_json()
    assert [text for text in (*GONE, ID) if f'"{text}"' in printed or (text != ID and text in printed)] == []
    assert receipt.left[0].file == str(home / "[erased].txt")
    assert Receipt.model_validate_json(printed).genuine()
    assert not receipt.model_copy(update={"texts": receipt.texts + 1}).genuine()
    assert not receipt.model_copy(update={"left": []}).genuine()


async def test_a_registered_file_is_a_place_of_its_own(people: People, home: Path, tmp_path: Path) -> None:
    tape = tmp_path / "elsewhere" / "tape.jsonl"
    await recording(tape, TOLD)
    beside = tape.with_name("not registered.txt")
    beside.write_text(TOLD, encoding="utf-8")
    await people.register_run(tape)
    receipt = await erase(people, home, ID)
    assert [(place.path, place.files, place.records) for place in receipt.places if place.kind == "run"] == [
        (str(tape), 1, 1)
    ]
    assert receipt.clean


async def test_what_could_not_be_removed_is_named(people: People, home: Path) -> None:
    note = home / "my notes.md"
    note.write_text(f"She says: {TOLD.upper()}. {ASKED}", encoding="utf-8")
    mine = home / "shopping.jsonl"
    mine.write_text(json.dumps({"text": TOLD}) + "\n", encoding="utf-8")
    receipt = await erase(people, home, ID)
    assert not receipt.clean
    assert [(one.file, one.texts) for one in receipt.left] == [(str(note), 2), (str(mine), 1)]
    assert json.loads(mine.read_text(encoding="utf-8")) == {"text": TOLD}


async def test_the_builders_documents_are_searched_and_not_changed(people: People, home: Path) -> None:
    document = home / "collections" / "default" / "passages.sqlite"
    document.parent.mkdir(parents=True)
    document.write_text(f'A card: "{TOLD}"', encoding="utf-8")
    receipt = await erase(people, home, ID)
    assert receipt.clean
    assert [(one.file, one.texts) for one in receipt.documents] == [(str(document), 1)]
    assert document.read_text(encoding="utf-8") == f'A card: "{TOLD}"'


async def test_what_somebody_else_said_too_stays_theirs(people: People, home: Path) -> None:
    theirs = await people.tell("bob", f"{TOLD}.")
    receipt = await erase(people, home, ID)
    assert (receipt.clean, receipt.shared) == (True, 1)
    assert theirs in await people.statements("bob")


async def test_texts_of_others_that_only_touch_in_the_file_are_theirs(people: People, home: Path) -> None:
    await people.add("dora", "Dora")
    await people.tell(ID, "my number is 1234fact")
    await people.tell("dora", "x", kind="goal", cause="c")
    engine = sqlite3.connect(home / "people.db", isolation_level=None)
    engine.execute("UPDATE statements SET text = 'my number is 1234', sameness = 'fact and more' WHERE person = 'dora'")
    engine.close()
    receipt = await erase(people, home, ID)
    assert (receipt.clean, receipt.shared) == (True, 1)


async def test_a_log_that_somebody_still_reads_is_told(people: People, home: Path) -> None:
    reader = sqlite3.connect(home / "people.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM people").fetchall()
    await people.tell(ID, "I said this while another program reads")
    receipt = await erase(people, home, ID)
    reader.close()
    assert [one.file for one in receipt.left] == [str(home / "people.db-wal")]
    assert not receipt.clean


async def test_free_pages_of_an_older_store_are_found_and_written_anew(people: People, home: Path) -> None:
    careless = sqlite3.connect(home / "people.db", isolation_level=None)
    careless.execute("PRAGMA secure_delete = OFF")
    careless.execute("CREATE TABLE old (text TEXT)")
    careless.executemany("INSERT INTO old VALUES (?)", [(TOLD + " " + "x" * 3000,)] * 20)
    careless.execute("DELETE FROM old")
    careless.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    careless.close()
    assert (home / "people.db").read_bytes().count(TOLD.encode()) > 2
    receipt = await erase(people, home, ID)
    assert receipt.clean
    assert still_in(home) == []


async def test_another_store_with_the_same_person_is_told(people: People, home: Path) -> None:
    async with await People.open(home / "demo" / "people.db") as other:
        await live(other, ID)
    receipt = await erase(people, home, ID)
    assert {Path(one.file).parent for one in receipt.left} == {home / "demo"}


async def test_an_odd_id_is_erased_too(people: People, home: Path) -> None:
    odd = 'O\'Brien "x" / 👩‍🔬 %_*'
    await live(people, odd)
    (home / "run.jsonl").write_text("", encoding="utf-8")
    assert (await erase(people, home, odd)).clean
    assert [person.id for person in await people.list()] == [ID, "bob"]


async def test_erasing_leaves_the_store_locked_for_other_programs(people: People, home: Path) -> None:
    """Who closes a file loses their locks on it: another program would take itself for the only one, and remove the
    log that this one goes on writing to."""
    await erase(people, home, "bob")
    other = "import asyncio, sys\nfrom personable.people.store import People\n"
    other += "async def work():\n    async with await People.open(sys.argv[1]) as people:\n"
    other += "        await people.add(sys.argv[2])\nasyncio.run(work())\n"
    for name in ("one", "two"):
        run = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", other, str(people.file), name], capture_output=True, timeout=60
        )
        assert run.returncode == 0, run.stderr
        assert (home / "people.db-wal").exists()
        await people.add(f"after {name}")
    async with await People.open(str(people.file)) as again:
        assert {one.id for one in await again.list()} >= {"one", "two", "after one", "after two"}
