"""Certified collections: what is refused, what is kept byte for byte, and what is checked when it is served."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from personable.demo import certified
from personable.embed import Vectors, make_embedder
from personable.errors import DataError, ModelError, NotFoundError
from personable.retrieval.cards import Cards, open_cards
from personable.retrieval.certified import read_approval, stored_approval
from personable.retrieval.certifying import SEGMENT, TITLE, WHOLE, certify_documents
from personable.retrieval.corpus import IndexOptions, collection_kind, open_collection
from personable.retrieval.hybrid import SparseRetriever
from personable.retrieval.report import IndexReport
from personable.retrieval.showing import find_shown, shown, verified
from personable.retrieval.vault import Vault

EMBEDDER = make_embedder("hash:128")
HEAD = 'name = "Leaflets"\napprover = "Dr Example"\n'
EMERGENCY = '[[emergency]]\nphrases = ["chest pain"]\ntext = "Call for help now."\n'
LEAFLET = "# Gout\r\n\r\nGout is a painful form of arthritis.\r\nDo not take more than 2 tablets a day.\r\n"


def card(id: str, answer: str = "Gout is a form of arthritis.", **more: Any) -> str:
    return json.dumps(
        {"id": id, "question": f"What is {id} ?", "answer": answer, "focus": id, "qtype": "information", **more}
    )


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write(folder: Path, lines: list[str], head: str = HEAD + EMERGENCY, more: str = "") -> Path:
    (folder / "cards.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = folder / "manifest.toml"
    entry = f'[[documents]]\npath = "cards.jsonl"\nversion = "1"\napproved = 2026-01-15\n{more}'
    manifest.write_text(head + entry, encoding="utf-8")
    return manifest


def index(home: Path, manifest: Path, **options: int) -> IndexReport:
    with open_collection(home, "c", embedder=EMBEDDER, create=True) as collection:
        return certify_documents(collection.store, manifest, IndexOptions(**options), date(2026, 6, 1))


def opened(home: Path) -> Cards:
    return open_cards(open_collection(home, "c", embedder=EMBEDDER).store, EMBEDDER)


def test_each_document_carries_its_provenance_and_the_digest_of_its_own_bytes(tmp_path: Path) -> None:
    line = card("gout", url="https://example.org/gout")
    index(tmp_path, write(tmp_path, [line]))
    cards = opened(tmp_path)
    (document,) = cards.valid(["gout"])
    assert document.meta["sha256"] == hashlib.sha256(line.encode()).hexdigest()
    assert (document.meta["version"], document.meta["approver"]) == ("1", "Dr Example")
    assert (document.meta["approved"], document.source) == ("2026-01-15", "https://example.org/gout")
    assert verified(cards.store, document) == document


def test_a_folder_of_leaflets_is_stored_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "leaflets").mkdir()
    (tmp_path / "leaflets/gout.md").write_bytes(LEAFLET.encode())
    manifest = tmp_path / "manifest.toml"
    entry = '[[documents]]\npath = "leaflets"\nversion = "1"\napproved = 2026-01-15\n'
    manifest.write_text(HEAD + EMERGENCY + entry, encoding="utf-8")
    index(tmp_path, manifest)
    cards = opened(tmp_path)
    (document,) = cards.valid(["leaflets/gout.md"])
    assert (document.title, document.text) == ("Gout", LEAFLET)
    (stored,) = Vault(tmp_path / "collections/c").folder.iterdir()
    assert stored.read_bytes() == LEAFLET.encode()


def test_an_altered_file_is_refused_and_the_document_named(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout"), card("asthma", "Asthma is a disease of the lungs.")]))
    (stored,) = Vault(tmp_path / "collections/c").folder.iterdir()
    stored.write_bytes(stored.read_bytes().replace(b"arthritis", b"arthrosis"))
    cards = opened(tmp_path)
    gout, asthma = cards.valid(["gout", "asthma"])
    with pytest.raises(DataError, match=r"'gout' was altered: its digest is"):
        verified(cards.store, gout)
    assert verified(cards.store, asthma) == asthma
    stored.unlink()
    with pytest.raises(DataError, match="'asthma' was altered"):
        verified(cards.store, asthma)


def test_a_text_that_only_the_index_holds_is_refused(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout")]))
    cards = opened(tmp_path)
    (gout,) = cards.valid(["gout"])
    with pytest.raises(DataError, match="the index holds another text"):
        verified(cards.store, gout.model_copy(update={"text": "Gout is harmless, whoever."}))


def test_another_file_than_the_approved_one_is_refused(tmp_path: Path) -> None:
    manifest = write(tmp_path, [card("gout")], more=f'sha256 = "{"0" * 64}"\n')
    with pytest.raises(DataError, match=r"cards\.jsonl is not the file that was approved"):
        index(tmp_path, manifest)
    right = hashlib.sha256((tmp_path / "cards.jsonl").read_bytes()).hexdigest()
    assert index(tmp_path, write(tmp_path, [card("gout")], more=f'sha256 = "{right}"\n')).added == 1


def test_two_documents_with_one_id_are_refused_and_both_places_named(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"the id 'gout': cards\.jsonl, line 1, cards\.jsonl, line 3; nothing was changed"
    ):
        index(tmp_path, write(tmp_path, [card("gout"), card("asthma"), card("gout", "Another text.")]))


def test_empty_and_broken_cards_are_reported_and_left_out(tmp_path: Path) -> None:
    half = '{"id": "half", "question": "Half?", "answer": "Half \\ud800 surrogate."}'
    report = index(
        tmp_path, write(tmp_path, [card("gout"), card("empty", "  "), "{broken", '{"answer": "no id"}', half])
    )
    assert report.added == 1
    assert [(one.source, one.error.split(":")[0]) for one in report.failed] == [
        ("cards.jsonl, line 2", "it holds no text"),
        ("cards.jsonl, line 3", "not valid JSON"),
        ("cards.jsonl, line 4", "not a JSON object with an id"),
        ("cards.jsonl, line 5", "it holds half a surrogate pair"),
    ]


def test_nothing_but_empty_cards_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no document that can be served"):
        index(tmp_path, write(tmp_path, [card("empty", "")]))


def test_a_card_of_forty_pages_is_cut_into_segments_that_know_their_document(tmp_path: Path) -> None:
    pages = "\n\n".join(f"Paragraph {n} says that rest and water help in week {n}." for n in range(1200))
    index(tmp_path, write(tmp_path, [card("long", pages), card("gout")]))
    cards = opened(tmp_path)
    passages, _ = cards.store.everything()
    levels = {level: [one for one in passages if one.meta["level"] == level] for level in (TITLE, WHOLE, SEGMENT)}
    assert (len(levels[TITLE]), len(levels[WHOLE])) == (2, 2)
    assert len(levels[SEGMENT]) > 40
    assert {one.document for one in levels[SEGMENT]} == {"long"}
    (long,) = cards.valid(["long"])
    assert long.text == pages
    best = cards.parts(long, "Paragraph 700 week 700", 1)[0]
    assert "Paragraph 700 " in best.text
    assert verified(cards.store, best) == best
    assert cards.nearest("Paragraph 700 week 700", [WHOLE, SEGMENT], 50).keys() <= {"long", "gout"}


def test_a_medical_collection_without_emergency_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="needs an approved emergency text"):
        index(tmp_path, write(tmp_path, [card("gout")], head=HEAD))
    assert index(tmp_path, write(tmp_path, [card("gout")], head=HEAD + "medical = false\n")).added == 1


@pytest.mark.parametrize(("phrases", "text"), [('["chest pain", " "]', "Call."), ('["…"]', "Call."), ('["x"]', "  ")])
def test_a_blank_phrase_or_emergency_text_is_refused(tmp_path: Path, phrases: str, text: str) -> None:
    head = f'{HEAD}[[emergency]]\nphrases = {phrases}\ntext = "{text}"\n'
    with pytest.raises(DataError, match=r"emergency\.0\.(phrases|text)"):
        read_approval(write(tmp_path, [card("gout")], head=head))


def test_all_emergencies_are_told_and_each_text_once(tmp_path: Path) -> None:
    more = '[[emergency]]\nphrases = ["{}"]\ntext = "{}"\n'
    head = HEAD + EMERGENCY + more.format("stroke", "Call for help now.") + more.format("suicidal", "Talk to somebody.")
    manifest = read_approval(write(tmp_path, [card("gout")], head=head))
    asked = "I am suicidal after a stroke and have chest pain"
    assert manifest.alarm(asked) == "Call for help now.\n\nTalk to somebody."


@pytest.mark.parametrize(
    ("question", "alarmed"),
    [("I have chest pains since noon", True), ("CHEST-PAIN?", True), ("my chest is fine, no pain", False), ("", False)],
)
def test_an_emergency_phrase_is_found_inflected_and_in_any_case(tmp_path: Path, question: str, alarmed: bool) -> None:
    manifest = read_approval(write(tmp_path, [card("gout")]))
    assert manifest.alarm(question) == ("Call for help now." if alarmed else "")


def test_an_altered_manifest_is_refused(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout")]))
    stored = tmp_path / "collections/c/certified.json"
    stored.write_text(
        stored.read_text(encoding="utf-8").replace("Call for help now.", "Wait a while."), encoding="utf-8"
    )
    with pytest.raises(DataError, match="altered since the collection was certified"):
        stored_approval(stored.parent)


def test_a_collection_whose_manifest_was_removed_stays_certified_until_it_is_indexed_again(tmp_path: Path) -> None:
    manifest = write(tmp_path, [card("gout")])
    index(tmp_path, manifest)
    stored = tmp_path / "collections/c/certified.json"
    stored.unlink()
    assert collection_kind(tmp_path, "c") == "certified"
    with pytest.raises(DataError, match=r"certified.json is missing; index the certified collection again"):
        stored_approval(stored.parent)
    with (
        open_collection(tmp_path, "c", embedder=EMBEDDER, create=True) as found,
        pytest.raises(DataError, match="holds certified documents"),
    ):
        found.index([tmp_path / "cards.jsonl"])
    assert index(tmp_path, manifest).unchanged == 1
    assert stored_approval(stored.parent).alarm("chest pain") == "Call for help now."


def test_documents_leave_with_their_manifest_and_when_their_approval_ends(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout"), card("asthma")]))
    report = index(tmp_path, write(tmp_path, [card("gout")]))
    assert (report.unchanged + report.replaced, report.removed) == (1, 1)
    index(tmp_path, write(tmp_path, [card("gout")], more="expires = 2026-07-01\n"))
    assert opened(tmp_path).valid(["gout"]) == [], "today its approval has ended"


def test_where_every_approval_ended_all_documents_leave_and_are_named(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout"), card("asthma")]))
    report = index(tmp_path, write(tmp_path, [card("gout"), card("asthma")], more="expires = 2026-02-01\n"))
    assert report.removed == 2
    assert [(one.source, one.error) for one in report.failed] == [("cards.jsonl", "its approval ended on 2026-02-01")]
    cards = opened(tmp_path)
    assert (cards.store.documents(), list(Vault(tmp_path / "collections/c").folder.iterdir())) == ({}, [])
    with pytest.raises(DataError, match="its approval ended on 2026-02-01"):
        index(tmp_path / "new", write(tmp_path, [card("gout")], more="expires = 2026-02-01\n"))


def test_what_is_not_approved_any_more_leaves_also_where_the_rest_cannot_be_embedded(tmp_path: Path) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(EMBEDDER, name)

        def passages(self, texts: Sequence[str]) -> Vectors:
            if texts:
                raise ModelError("the embedder is gone")
            return EMBEDDER.passages(texts)

    index(tmp_path, write(tmp_path, [card("gout"), card("asthma")]))
    manifest = write(tmp_path, [card("gout"), card("new")])
    with (
        open_collection(tmp_path, "c", embedder=Failing(), create=True) as collection,
        pytest.raises(ModelError, match="is gone"),
    ):
        certify_documents(collection.store, manifest, IndexOptions(), date(2026, 6, 1))
    assert list(opened(tmp_path).store.documents()) == ["gout"]


def test_an_approval_in_the_future_is_refused_and_named(tmp_path: Path) -> None:
    manifest = write(tmp_path, [card("gout")])
    manifest.write_text(manifest.read_text("utf-8").replace("2026-01-15", "2026-06-02"), encoding="utf-8")
    with pytest.raises(DataError, match=r"cards\.jsonl: its approval lies in the future: 2026-06-02"):
        index(tmp_path, manifest)


FIELDS = {
    "title": "title = 'What is rheuma ?'",
    "source": "source = 'https://example.com'",
    "focus": "meta = json_set(meta, '$.focus', 'rheuma')",
    "publisher": "meta = json_set(meta, '$.publisher', 'Nobody')",
    "version": "meta = json_set(meta, '$.version', '2')",
    "approver": "meta = json_set(meta, '$.approver', 'Dr Nobody')",
    "approved": "meta = json_set(meta, '$.approved', '2020-01-01')",
    "expires": "meta = json_set(meta, '$.expires', 'never')",
    "sha256": "meta = json_set(meta, '$.sha256', 'abc')",
    "kind": "meta = json_remove(meta, '$.kind')",
}


def alter(home: Path, change: str, where: str = "id = 'gout'") -> None:
    with closing(sqlite3.connect(home / "collections/c/passages.sqlite")) as database:
        assert database.execute(f"UPDATE passage SET {change} WHERE {where}").rowcount > 0
        database.commit()


@pytest.mark.parametrize("field", FIELDS)
def test_an_altered_field_is_refused_and_named_and_indexing_again_mends_it(tmp_path: Path, field: str) -> None:
    manifest = write(tmp_path, [card("gout")])
    index(tmp_path, manifest)
    alter(tmp_path, FIELDS[field])
    cards = opened(tmp_path)
    gout = cards.store.passage("gout")
    assert cards.evidence(cards.lay.read("gout"), [gout])[0].passage == gout, "it is found"
    with pytest.raises(DataError, match=f"'gout' was altered: its {field} differs"):
        verified(cards.store, gout)
    assert index(tmp_path, manifest).replaced == 1
    cards = opened(tmp_path)
    assert verified(cards.store, *cards.valid(["gout"])).title == "What is gout ?"


def test_bytes_and_their_digest_altered_together_are_refused(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout")]))
    (stored,) = Vault(tmp_path / "collections/c").folder.iterdir()
    raw = stored.read_bytes().replace(b"arthritis", b"arthrosis")
    stored.write_bytes(raw)
    alter(
        tmp_path,
        f"text = replace(text, 'arthritis', 'arthrosis'), meta = json_set(meta, '$.sha256', '{sha(raw[:-1])}')",
    )
    cards = opened(tmp_path)
    (gout,) = cards.valid(["gout"])
    with pytest.raises(DataError, match="its sha256, text differ"):
        verified(cards.store, gout)


def test_a_card_without_a_title_is_served_and_stays_unchanged(tmp_path: Path) -> None:
    manifest = write(tmp_path, [json.dumps({"id": "bare", "text": "Gout is a form of arthritis."})])
    index(tmp_path, manifest)
    cards = opened(tmp_path)
    (bare,) = cards.valid(["bare"])
    assert verified(cards.store, bare) == bare
    assert index(tmp_path, manifest).unchanged == 1


def test_an_altered_segment_is_refused(tmp_path: Path) -> None:
    pages = "\n\n".join(f"Paragraph {n} says that rest and water help in week {n}." for n in range(60))
    index(tmp_path, write(tmp_path, [card("long", pages)]))
    alter(tmp_path, "title = 'Approved for children'", "id = 'long#1'")
    cards = opened(tmp_path)
    (long,) = cards.valid(["long"])
    with pytest.raises(DataError, match="'long' was altered: a part of it differs"):
        verified(cards.store, cards.parts(long, "Paragraph 3", 1)[0])


def test_an_altered_original_is_written_again_from_the_approved_file(tmp_path: Path) -> None:
    manifest = write(tmp_path, [card("gout")])
    index(tmp_path, manifest)
    (stored,) = Vault(tmp_path / "collections/c").folder.iterdir()
    stored.write_bytes(stored.read_bytes().replace(b"arthritis", b"arthrosis"))
    assert index(tmp_path, manifest).unchanged == 1
    cards = opened(tmp_path)
    (gout,) = cards.valid(["gout"])
    assert verified(cards.store, gout) == gout


def test_a_collection_of_an_earlier_version_asks_to_be_indexed_again(tmp_path: Path) -> None:
    manifest = write(tmp_path, [card("gout")])
    index(tmp_path, manifest)
    with closing(sqlite3.connect(tmp_path / "collections/c/passages.sqlite")) as database:
        database.execute("UPDATE document SET digest = ?", ("0" * 64,))
        database.commit()
    cards = opened(tmp_path)
    (gout,) = cards.valid(["gout"])
    with pytest.raises(DataError, match=r"by an earlier version.*index the collection again"):
        verified(cards.store, gout)
    assert index(tmp_path, manifest).replaced == 1
    assert verified(opened(tmp_path).store, gout) == gout


def test_other_collections_and_certified_ones_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Some note.", encoding="utf-8")
    with open_collection(tmp_path, "c", embedder=EMBEDDER, create=True) as collection:
        collection.index([tmp_path / "note.md"])
    with pytest.raises(DataError, match="holds other documents"):
        index(tmp_path, write(tmp_path, [card("gout")]))
    with pytest.raises(DataError, match="is not certified: personable index"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not valid TOML"),
        ('name = "a"\napprover = "b"\nmedical = false\n', "documents"),
        (
            HEAD + 'documents = [{path = "x", version = "1", approved = 2026-01-15, colour = 1}]',
            r"documents\.0\.colour",
        ),
    ],
)
def test_a_wrong_manifest_is_named_with_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_approval(tmp_path / "m.toml")
    with pytest.raises(NotFoundError, match="no manifest"):
        read_approval(tmp_path / "other.toml")


def test_text_in_another_encoding_is_not_guessed(tmp_path: Path) -> None:
    manifest = write(tmp_path, [card("gout")])
    (tmp_path / "cards.jsonl").write_bytes(card("gout").encode() + b"\n" + card("it", "perché sì").encode("latin-1"))
    (tmp_path / "latin.jsonl").write_bytes('{"id": "x", "answer": "perché"}'.encode("latin-1"))
    manifest.write_text(manifest.read_text("utf-8").replace("cards.jsonl", "latin.jsonl"), encoding="utf-8")
    with pytest.raises(DataError, match="not valid JSON"):
        index(tmp_path, manifest)


def test_the_shipped_cards_are_a_valid_certified_collection(tmp_path: Path) -> None:
    report = index(tmp_path, certified())
    assert (report.added, report.failed) == (49, [])
    assert opened(tmp_path).manifest.alarm("I feel suicidal").startswith("You are not alone.")


def test_a_collection_deleted_while_it_is_open_is_not_called_altered(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout")]))
    cards = opened(tmp_path)
    (gout,) = cards.valid(["gout"])
    shutil.rmtree(tmp_path / "collections/c")
    with pytest.raises(NotFoundError, match="the collection 'c' is not there any more"):
        shown(cards.store, gout)


async def test_what_another_document_claims_or_an_altered_id_is_refused(tmp_path: Path) -> None:
    index(tmp_path, write(tmp_path, [card("gout"), card("asthma", "Asthma is a disease of the lungs.")]))
    for claimed in ("asthma", "nowhere"):
        alter(tmp_path, f"document = '{claimed}'")
        store = opened(tmp_path).store
        with pytest.raises(DataError, match=f"'{claimed}' was altered"):
            await find_shown(SparseRetriever(store), store, "gout", 1, None)
