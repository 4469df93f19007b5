"""Files become documents; what cannot be read says so and does not take the rest with it."""

from __future__ import annotations

import builtins
import gzip
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from personable.errors import MissingExtraError, UnreadableFileError
from personable.retrieval import readers
from personable.retrieval.document import Document, Problem, ReadOptions, clean
from personable.retrieval.readers import read
from personable.retrieval.segment import passages
from personable.retrieval.textfile import TextFile

DATA = Path(__file__).parent.parent / "data"


def documents(path: Path, **options: str) -> list[Document]:
    found = list(read(path, ReadOptions(**options)))
    assert [item for item in found if isinstance(item, Problem)] == []
    return [item for item in found if isinstance(item, Document)]


def problems(path: Path, **options: str) -> list[str]:
    return [f"{item.source}: {item.error}" for item in read(path, ReadOptions(**options)) if isinstance(item, Problem)]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pdf(path: Path, pages: list[str], password: str | None = None) -> Path:
    writer = PdfWriter()
    font = DictionaryObject(
        {NameObject(key): NameObject(value) for key, value in (("/Type", "/Font"), ("/Subtype", "/Type1"))}
    )
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    for text in pages:
        page = writer.add_blank_page(200, 200)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): writer._add_object(font)})}
        )
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode() if text else b"")
        page[NameObject("/Contents")] = writer._add_object(content)
    writer.add_metadata({"/Title": "Two pages"})
    if password:
        writer.encrypt(password)
    writer.write(path)
    return path


def docx(path: Path, body: str) -> Path:
    names = "http://schemas.openxmlformats.org"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    relation = f"{names}/officeDocument/2006/relationships/officeDocument"
    parts: Mapping[str, str] = {
        "[Content_Types].xml": f'<Types xmlns="{names}/package/2006/content-types">'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{names}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{relation}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{names}/wordprocessingml/2006/main">'
        f"<w:body>{body}</w:body></w:document>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_markdown_takes_its_title_from_front_matter_which_is_no_text() -> None:
    (document,) = documents(DATA / "pets.md")
    assert document.title == "Keeping pets"
    assert document.text.lstrip().startswith("# Pets\n")
    assert document.text.endswith("Straße, 猫, naïve.\n")
    assert (document.id, document.source) == ("pets.md", str(DATA / "pets.md"))


def test_markdown_without_front_matter_is_named_for_its_first_heading(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, "a.md", "Intro\n\n## Tea time ##\n"))
    assert document.title == "Tea time"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("naïve 猫".encode(), "naïve 猫"),
        ("\ufeffnaïve".encode(), "naïve"),
        ("naïve 猫".encode("utf-16"), "naïve 猫"),
        ("Der Fuß ist müde und möchte schlafen, während Jörg übt. ".encode("cp1252") * 20, None),
        ("café".encode("cp1252"), "café"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_text_is_decoded_whatever_the_platform_prefers(tmp_path: Path, content: bytes, expected: str | None) -> None:
    (document,) = documents(written(tmp_path, "a.txt", content))
    assert document.text == (expected or content.decode("cp1252"))


def test_some_broken_bytes_in_utf8_are_replaced_and_reported(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "naïve 猫 Straße ".encode() + b"\xff end")
    assert [item.text for item in read(path) if isinstance(item, Document)] == ["naïve 猫 Straße \ufffd end"]
    assert problems(path) == [f"{path}: 1 characters could not be decoded and read � now; save the file as UTF-8"]


@pytest.mark.slow
@pytest.mark.parametrize("broken", [b"\xe9", "\u00e9".encode()[:1]])
def test_one_stray_byte_far_from_the_rest_leaves_utf_8_as_it_is(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(
        "Citt\u00e0 \u00e8 perch\u00e9 universit\u00e0. ".encode() * 2000 + b"plain words. " * 20_000 + broken
    )
    assert TextFile(path).encoding() == "utf-8"


def test_html_keeps_the_declared_encoding_and_drops_the_page_around(tmp_path: Path) -> None:
    body = "<p>Der Kater schläft fast den ganzen Tag und möchte dabei nicht gestört werden.</p>" * 3
    head = "<head><meta charset='iso-8859-15'><title>Über Katzen</title></head>"
    article = f"<nav><a>Home</a></nav><article><h1>Katzen</h1>{body}</article><script>x()</script>"
    html = f"<html>{head}<body>{article}</body></html>"
    (document,) = documents(written(tmp_path, "a.html", html.encode("iso-8859-15")))
    assert document.title == "Über Katzen"
    assert "möchte dabei nicht gestört werden." in document.text
    assert "x()" not in document.text


def test_short_html_is_read_too(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, "a.html", "<p>Hi &amp; bye.<script>x()</script>"))
    assert document.text == "Hi & bye."


def test_pdf_has_its_title_and_pages(tmp_path: Path) -> None:
    (document,) = documents(pdf(tmp_path / "a.pdf", ["First page.", "", "Third page."]))
    assert document.title == "Two pages"
    assert [document.text[start:].split("\n")[0] for start in document.pages] == ["First page.", "", "Third page."]


@pytest.mark.parametrize(
    ("pages", "password", "message"),
    [
        (["Secret."], "pass", "is encrypted; save a copy without a password"),
        (["", ""], None, "has no text in its 2 pages"),
    ],
)
def test_pdf_without_readable_text_says_what_to_do(
    tmp_path: Path, pages: list[str], password: str | None, message: str
) -> None:
    with pytest.raises(UnreadableFileError, match=message):
        list(read(pdf(tmp_path / "a.pdf", pages, password)))


@pytest.mark.parametrize("cut", [0, 20, 300])
def test_a_damaged_pdf_is_one_clear_error(tmp_path: Path, cut: int) -> None:
    content = pdf(tmp_path / "whole.pdf", ["Text."]).read_bytes()[:cut]
    with pytest.raises(UnreadableFileError, match=r"half\.pdf"):
        list(read(written(tmp_path, "half.pdf", content)))


READING = """
import sys
from pathlib import Path
from personable.errors import UnreadableFileError
from personable.retrieval.readers import read

for path in sys.argv[1:]:
    try:
        print(*(document.text for document in read(Path(path))))
    except UnreadableFileError as error:
        print(error)
"""


@pytest.mark.slow
def test_the_flaws_of_a_pdf_are_no_noise_but_a_failure_is_told(tmp_path: Path) -> None:
    whole = pdf(tmp_path / "a.pdf", ["Text."]).read_bytes()
    flawed = written(tmp_path, "flawed.pdf", re.sub(rb"startxref\s+\d+", b"startxref\n7", whole))
    broken = written(tmp_path, "broken.pdf", whole[:300])
    run = subprocess.run(
        [sys.executable, "-c", READING, str(flawed), str(broken)], check=True, capture_output=True, text=True
    )
    assert run.stderr == ""
    told = run.stdout.splitlines()
    assert told[0] == "Text."
    assert told[1].startswith(f"{broken} is a damaged PDF")


def test_docx_keeps_headings_and_paragraphs(tmp_path: Path) -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Tea</w:t></w:r></w:p>'
    body = f"{heading}<w:p><w:r><w:t>Boil water.</w:t></w:r></w:p><w:p><w:r><w:t>Wait.</w:t></w:r></w:p>"
    (document,) = documents(docx(tmp_path / "a.docx", body))
    assert document.text.split() == ["#", "Tea", "Boil", "water.", "Wait."]
    assert "\n\nWait." in document.text
    assert document.title == "Tea"


def deflated(path: Path, parts: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "parts",
    [
        {"word/document.xml": b"<w:p/>" * 3_000_000},
        {"word/document.xml": b"<w:p/>" * 20_000_000, "word/media/padding.png": random.Random(1).randbytes(3_000_000)},
    ],
)
def test_a_docx_that_would_fill_the_memory_is_refused_unopened(tmp_path: Path, parts: Mapping[str, bytes]) -> None:
    size = sum(map(len, parts.values()))
    with pytest.raises(UnreadableFileError, match=rf"a\.docx would unpack from [\d,]+ to {size:,} bytes"):
        list(read(deflated(tmp_path / "a.docx", parts)))


def test_a_docx_with_large_pictures_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_SUSPECT", 10_000)
    path = docx(tmp_path / "a.docx", "<w:p><w:r><w:t>Tea.</w:t></w:r></w:p>")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/media/photo.jpg", random.Random(1).randbytes(500_000))
    assert [document.text for document in documents(path)] == ["Tea."]


def test_a_docx_with_damaged_parts_is_one_clear_error(tmp_path: Path) -> None:
    path = deflated(tmp_path / "a.docx", {"word/document.xml": b"<w:p>Tea</w:p>" * 500})
    content = bytearray(path.read_bytes())
    content[60:90] = b"\xff" * 30
    with pytest.raises(UnreadableFileError, match="is damaged or encrypted"):
        list(read(written(tmp_path, "b.docx", bytes(content))))


def test_what_is_no_docx_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="not a DOCX document"):
        list(read(written(tmp_path, "a.docx", "no archive")))


def test_beir_corpus_is_read_as_it_is() -> None:
    first, second = documents(DATA / "beir.jsonl")
    assert (first.id, first.title, first.text) == ("d1", "Cats", "Cats sleep for most of the day.")
    assert (second.id, second.title) == ("d2", "")


@pytest.mark.parametrize("named", [{}, {"text_field": "answer", "title_field": "question", "id_field": "id"}])
def test_cards_are_guessed_or_named(named: dict[str, str]) -> None:
    first, _ = documents(DATA / "cards.jsonl", **named)
    assert (first.id, first.title) == ("GARD_1_1", "What are the symptoms of Gout ?")
    assert first.text == "Sudden pain in one joint.\nSwelling and warmth."
    assert first.source == "https://example.org/gout"
    assert first.meta == {"source": "GARD", "doc_id": "1", "focus": "Gout", "qtype": "symptoms"}


def test_packed_records_are_read_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "cards.jsonl.gz", gzip.compress((DATA / "cards.jsonl").read_bytes()))
    assert [document.id for document in documents(path)] == ["GARD_1_1", "GARD_1_2"]


def test_a_cut_archive_is_one_clear_error(tmp_path: Path) -> None:
    content = gzip.compress((DATA / "cards.jsonl").read_bytes())[:-20]
    with pytest.raises(UnreadableFileError, match="damaged"):
        list(read(written(tmp_path, "cards.jsonl.gz", content)))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": "cut', "not valid JSON"),
        ("[1]", "not a JSON object but list"),
        ('{"x": 1, "y": 2}', "which field is the text? Name it with --text-field; its fields are: x, y"),
        ('{"text": " "}', "the field 'text' holds no text"),
        ('{"id": "a", "text": "again"}', "the id 'a' was used before in this file; the first record was kept"),
    ],
)
def test_one_bad_line_is_named_and_the_rest_is_read(tmp_path: Path, line: str, problem: str) -> None:
    path = written(tmp_path, "a.jsonl", f'{{"id": "a", "text": "one"}}\n{line}\n\n{{"id": 7, "text": "two"}}\n')
    assert [(item.id, item.text) for item in read(path) if isinstance(item, Document)] == [("a", "one"), ("7", "two")]
    (reported,) = problems(path)
    assert reported.startswith(f"{path}, line 2: {problem}")


def test_a_record_without_id_is_named_for_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '\n{"text": "one"}\n')
    assert [document.id for document in documents(path)] == ["a.jsonl:2"]


def test_a_named_field_that_is_not_there_lists_those_that_are(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"text": "one", "year": 1}\n')
    assert problems(path, text_field="body") == [
        f"{path}, line 1: no field 'body' (--text-field); its fields are: text, year"
    ]


def test_surrogates_in_json_do_not_reach_the_text(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, "a.jsonl", '{"text": "half \\ud83d an emoji \\u0000"}'))
    assert document.text == "half ? an emoji "


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_tables_with_any_separator(tmp_path: Path, name: str, separator: str) -> None:
    rows = [["ID", "Title", "Text", "Year"], ["1", "Tea", '"Boil it.\n""Wait"" a while."', "1990"]]
    path = written(tmp_path, name, "\n".join(separator.join(row) for row in rows))
    (document,) = documents(path)
    assert document == Document(
        id="1", title="Tea", text='Boil it.\n"Wait" a while.', source=str(path), meta={"Year": "1990"}
    )


def test_a_table_row_with_too_many_cells_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "id,text\n1,one\n2,two,too many\n3,three\n")
    assert problems(path) == [f"{path}, line 3: 3 cells, but the header names 2 columns"]


def test_a_quotation_mark_that_is_not_closed_does_not_swallow_rows_in_silence(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'id,text\n1,one\n2,"two\n3,three\n')
    assert [item.text for item in read(path) if isinstance(item, Document)] == ["one"]
    assert problems(path) == [f"{path}, line 3: not valid CSV: unexpected end of data"]


def test_a_row_that_is_not_valid_does_not_take_the_next_with_it(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'id,text\n1,"one"x\n2,two\n')
    assert [item.text for item in read(path) if isinstance(item, Document)] == ["two"]
    assert [problem.split(": ")[0] for problem in problems(path)] == [f"{path}, line 2"]


def test_metadata_is_clean_and_finite(tmp_path: Path) -> None:
    line = '{"text": "a", "x": NaN, "y": 1e999, "n": 1.5, "b": true, "s": "\\ud83d\\u0000", "l": [1], "none": null}'
    (document,) = documents(written(tmp_path, "a.jsonl", line))
    assert document.meta == {"n": 1.5, "b": True, "s": "?"}


@pytest.mark.parametrize("content", ['[{"text": "one"}]', '{"documents": [{"text": "one"}]}', '{"text": "one"}'])
def test_json_arrays_and_objects(tmp_path: Path, content: str) -> None:
    assert [document.text for document in documents(written(tmp_path, "a.json", content))] == ["one"]


@pytest.mark.parametrize(("content", "message"), [("[1", "not valid JSON"), ("3", "holds no array of objects but int")])
def test_json_that_holds_no_records(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(UnreadableFileError, match=message):
        list(read(written(tmp_path, "a.json", content)))


def test_binary_data_called_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"a\.txt holds binary data, not text"):
        list(read(written(tmp_path, "a.txt", bytes(range(256)) * 10)))


def test_an_empty_file_yields_nothing(tmp_path: Path) -> None:
    assert list(read(written(tmp_path, "a.txt", ""))) == []


def test_a_format_without_a_reader_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"no reader for \.xyz: .*; can read: \.csv \.docx"):
        list(read(written(tmp_path, "a.xyz", "text")))


def test_a_long_text_is_read_in_parts_that_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "PART", 1000)
    text = "".join(f"Paragraph {n} has a few words.\n\n" for n in range(200))
    parts = documents(written(tmp_path, "a.txt", text))
    assert "".join(part.text for part in parts) == text
    assert [part.id for part in parts[:2]] == ["a.txt:1", "a.txt:2"]
    assert all(len(part.text) <= 1000 and part.text.endswith("\n\n") for part in parts)


LINES = st.sampled_from(["# Head\n", "\n\n", "One kettle boils. ", "猫が寝る。", "naïve\r\n", "word " * 40, "---\n"])
FRONT = "---\ntitle: Über Katzen\nyear: 2020\n---\n"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(front=st.sampled_from(["", FRONT]), body=st.lists(LINES, max_size=60).map("".join), part=st.integers(50, 500))
def test_offsets_of_every_part_are_those_of_the_whole_text(tmp_path: Path, front: str, body: str, part: int) -> None:
    path = written(tmp_path, "a.md", front + body)
    whole = clean(front + body)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(readers, "PART", part)
        for document in documents(path):
            for passage in passages(document, target=32, overlap=8):
                assert whole[passage.start : passage.end] == passage.text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["big.md", "big.txt.gz"])
def test_offsets_in_a_file_of_more_than_a_million_characters(tmp_path: Path, name: str) -> None:
    body = "".join(f"## Room {n}\n\nThe naïve cat number {n} sleeps in room {n}. 猫が寝る。\n\n" for n in range(22_000))
    whole = FRONT + body
    content = whole.encode()
    path = written(tmp_path, name, gzip.compress(content, 1) if name.endswith(".gz") else content)
    found = documents(path)
    assert len(found) == 2
    cut = [passage for document in found for passage in passages(document)]
    assert all(whole[passage.start : passage.end] == passage.text for passage in cut)
    assert cut[-1].end == len(whole.rstrip())


@pytest.mark.parametrize(("name", "library"), [("a.pdf", "pypdf"), ("a.docx", "mammoth"), ("a.html", "trafilatura")])
def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    real = builtins.__import__

    def without(module: str, *rest: Any) -> Any:
        if module.split(".")[0] == library:
            raise ImportError(module)
        return real(module, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"personable\[readers\]"):
        list(read(written(tmp_path, name, "<p>text")))


def test_the_source_digest_changes_with_any_part_of_a_document() -> None:
    document = Document(id="a", text="one")
    assert document.digest == Document(id="a", text="one").digest
    assert (
        len({document.digest, Document(id="a", text="two").digest, Document(id="a", text="one", title="t").digest}) == 3
    )
