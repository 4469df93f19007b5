import gzip
import json
from pathlib import Path

import pytest

from personable.errors import DataError, NotFoundError, UsageError
from personable.evaluation.datasets import Row, digest, read_beir, read_logs, read_openqa, select

SAMPLE = Path(__file__).parent.parent / "data" / "openqa"
LINE = {"id": "nq-0000", "source_id": "x", "index": 0, "question": "who?", "answers": ["me"], "passages": ["a", "b"]}


def write(folder: Path, *lines: object, name: str = "nq.jsonl") -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def test_the_sample_has_its_rows_with_the_first_passages() -> None:
    rows = read_openqa(SAMPLE, "nq", topk=3)
    assert [row.id for row in rows] == ["nq-0046", "nq-0062", "nq-0066", "nq-0067", "nq-0133", "nq-0202"]
    assert rows[0].answers == ("Neil Young",)
    assert [passage.id for passage in rows[0].passages] == ["nq-0046/1", "nq-0046/2", "nq-0046/3"]


def test_a_gzipped_file_reads_the_same(tmp_path: Path) -> None:
    (tmp_path / "nq.jsonl.gz").write_bytes(gzip.compress((SAMPLE / "nq.jsonl").read_bytes()))
    assert read_openqa(tmp_path, "nq") == read_openqa(SAMPLE, "nq")


def test_a_folder_that_holds_openqa_will_do() -> None:
    assert read_openqa(SAMPLE.parent, "nq") == read_openqa(SAMPLE, "nq")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ('{"id": "nq-1", "index"', "not a JSON object"),
        ("[1, 2]", "the line"),
        ({**LINE, "id": "nq-1", "index": "first"}, "index"),
        ({k: v for k, v in LINE.items() if k != "question"}, "question"),
        ({**LINE, "id": "nq-1", "answers": [""]}, "answers.0"),
        ({**LINE, "id": "nq-1", "question": "  "}, "question"),
    ],
)
def test_a_malformed_line_names_file_line_and_field(tmp_path: Path, bad: object, says: str) -> None:
    write(tmp_path, LINE, bad)
    with pytest.raises(DataError, match=r"nq\.jsonl:2: ") as error:
        read_openqa(tmp_path, "nq")
    assert says in str(error.value)


def test_a_repeated_id_names_both_lines(tmp_path: Path) -> None:
    write(tmp_path, LINE, {**LINE, "id": "nq-1"}, LINE)
    with pytest.raises(DataError, match=r"nq\.jsonl:3: id 'nq-0000' stands on line 1 already"):
        read_openqa(tmp_path, "nq")


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no webq\.jsonl in .*--data.*README"):
        read_openqa(tmp_path, "webq")


def test_an_empty_file_and_broken_bytes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "nq.jsonl").write_text("\n")
    with pytest.raises(DataError, match="empty"):
        read_openqa(tmp_path, "nq")
    (tmp_path / "nq.jsonl").write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(DataError, match="cannot be read"):
        read_openqa(tmp_path, "nq")


def test_a_torn_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nq.jsonl.gz").write_bytes(gzip.compress((SAMPLE / "nq.jsonl").read_bytes())[:-200])
    with pytest.raises(DataError, match="cannot be read"):
        read_openqa(tmp_path, "nq")


def test_top_zero_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="at least one"):
        read_openqa(SAMPLE, "nq", topk=0)


def test_odd_and_even_rows_part_the_data_set() -> None:
    rows = read_openqa(SAMPLE, "nq")
    odd, even = select(rows, "odd"), select(rows, "even")
    assert [row.index for row in odd] == [67, 133]
    assert sorted([*odd, *even], key=lambda row: row.index) == rows
    assert select(rows, "even", 2) == even[:2]


@pytest.mark.parametrize("limit", [0, -1])
def test_no_rows_left_is_an_error(limit: int) -> None:
    with pytest.raises(UsageError, match="no rows left"):
        select(read_openqa(SAMPLE, "nq"), limit=limit)


def test_the_digest_changes_with_any_content() -> None:
    row = Row(id="1", question="who?", answers=("me",))
    assert digest([row]) == digest([row.model_copy()])
    assert digest([row]) != digest([row.model_copy(update={"answers": ("you",)})])
    assert digest([row, row]) != digest([row])


def beir(folder: Path, qrels: str = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n") -> Path:
    write(folder, {"_id": "d1", "text": "one", "title": "T"}, {"_id": "d2", "text": "two"}, name="corpus.jsonl")
    write(folder, {"_id": "q1", "text": "which?"}, {"_id": "q2", "text": "unjudged"}, name="queries.jsonl")
    write(folder, qrels.rstrip("\n"), name="qrels/test.tsv")
    return folder


def test_a_beir_folder_gives_corpus_and_judged_queries(tmp_path: Path) -> None:
    found = read_beir(beir(tmp_path))
    assert [(passage.id, passage.title, passage.text) for passage in found.corpus] == [
        ("d1", "T", "one"),
        ("d2", "", "two"),
    ]
    assert [(row.id, row.question, row.relevant) for row in found.rows] == [("q1", "which?", {"d1": 2, "d2": 0})]


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ("q1\td1\tnan", r"test\.tsv:1: .*whole-number"),
        ("q1\td1", r"test\.tsv:1: "),
        ("q1\td1\t1\nq9\td1\t1", r"test\.tsv:2: no query 'q9'"),
        ("q1\td1\t1\nq1\td1\t0", r"test\.tsv:2: id 'q1 d1' stands on line 1"),
    ],
)
def test_bad_judgements_name_file_and_line(tmp_path: Path, qrels: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_beir(beir(tmp_path, qrels))


def test_a_missing_split_says_what_the_folder_should_hold(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"qrels/dev\.tsv.*corpus\.jsonl"):
        read_beir(beir(tmp_path), split="dev")


def test_recorded_outputs_are_refused_twice(tmp_path: Path) -> None:
    line = {"model": "m", "dataset": "nq", "topk": 3, "id": "nq-1", "index": 1, "method": "cot", "kind": "answer"}
    line["response"] = "x"
    write(tmp_path, line, {**line, "topk": 5}, name="persona_rag_logs.jsonl")
    assert [record.topk for record in read_logs(tmp_path)] == [3, 5]
    write(tmp_path, line, line, name="persona_rag_logs.jsonl")
    with pytest.raises(DataError, match=r"persona_rag_logs\.jsonl:2: .*already"):
        read_logs(tmp_path)
