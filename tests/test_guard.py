import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.guard import Guard, place, script, split_reply, split_stream, unmarked
from personable.types import Passage

PASSAGES = [
    Passage(id="a", title="Kidney stones", text="Drink 2 to 3 liters of fluid a day. Dr. Adams recommends water."),
    Passage(id="b", title="Gout", text="Gout is a painful form of arthritis caused by uric acid crystals."),
]


def guard(question: str = "What should I drink?", mark: bool = False) -> Guard:
    return Guard(PASSAGES, question, mark=mark)


def test_a_supported_and_rightly_cited_sentence_stays() -> None:
    checked = guard().check("Drink 2 to 3 liters of fluid a day [1].")
    assert (checked.text, checked.verdict.action, checked.verdict.passages) == (
        "Drink 2 to 3 liters of fluid a day.",
        "kept",
        [1],
    )


def test_a_wrong_citation_is_replaced_by_the_passage_that_supports_it() -> None:
    checked = guard().check("Gout is a painful arthritis caused by uric acid crystals [1].")
    assert (checked.verdict.action, checked.verdict.passages) == ("cited", [2])


def test_a_sentence_without_citation_gets_one() -> None:
    checked = guard().check("Gout is a painful form of arthritis.")
    assert (checked.verdict.action, checked.verdict.passages) == ("cited", [2])


@pytest.mark.parametrize("number", [0, 3, 99])
def test_a_citation_of_no_passage_never_leaves(number: int) -> None:
    checked = guard().check(f"Gout is a painful form of arthritis [{number}].")
    assert checked.verdict.passages == [2]
    assert "[" not in checked.text


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Drink 5 liters of fluid a day [1].", "a number that no passage holds"),
        ("Dr. Brown recommends water [1].", "a name that no passage holds"),
        ("Beyoncé recommends to drink fluid [1].", "a name at the beginning"),
        ("Coffee cures every headache quickly [1].", "other words"),
        ("[1]", "no words"),
        ("water " * 60 + "[1].", "repetition"),
        ("   ", "nothing"),
    ],
)
def test_an_unsupported_sentence_is_removed(sentence: str, why: str) -> None:
    checked = guard().check(sentence)
    assert (checked.text, checked.verdict.action) == ("", "removed"), why


def test_an_unsupported_sentence_can_be_marked_instead() -> None:
    checked = guard(mark=True).check("Coffee cures every headache quickly [1].")
    assert checked.text == "Coffee cures every headache quickly. (unsupported)"
    assert (checked.verdict.action, checked.verdict.passages) == ("marked", [])


def test_what_the_question_says_needs_no_support_but_adds_none() -> None:
    asked = Guard(PASSAGES, "Who is Zarathustra Smith?")
    assert asked.check("Zarathustra Smith recommends gambling [1].").verdict.action == "removed"
    assert asked.check("Zarathustra Smith recommends water [1].").verdict.action == "kept"


def test_an_answer_in_another_script_is_marked_not_trusted() -> None:
    checked = guard().check("每天喝两到三升水 [1]。")
    assert (checked.verdict.action, checked.verdict.passages) == ("marked", [1])


def test_without_passages_nothing_is_supported() -> None:
    assert Guard([], "q").check("Anything at all.").verdict.action == "removed"


def test_marks_after_the_full_stop_belong_to_the_sentence_before() -> None:
    assert split_reply("It is so. [1] That is why.[2][3]") == ["It is so [1].", "That is why[2][3]."]


@given(st.text(max_size=120), st.lists(st.integers(1, 12), max_size=30))
def test_a_stream_gives_the_same_sentences_however_it_is_cut(text: str, cuts: list[int]) -> None:
    reply = f"It is so. [1] {text} That is why [2][3]. The end."
    pending, said, at = "", [], 0
    for size in [*cuts, len(reply)]:
        pending += reply[at : at + size]
        at += size
        complete, pending = split_stream(pending)
        said += complete
    said += split_reply(pending)
    assert "".join("".join(said).split()) == "".join("".join(split_reply(reply)).split())


def test_groups_of_numbers_are_read() -> None:
    checked = guard("q").check("Drink fluid; gout is a form of arthritis [1, 2].")
    assert unmarked("Both [1, 2] and [1][2] [3–4].") == "Both and."
    assert set(checked.verdict.passages) <= {1, 2}


@given(st.text(max_size=200))
def test_whatever_a_model_writes_no_mark_is_left_and_every_number_resolves(text: str) -> None:
    for sentence in split_reply(text):
        checked = guard().check(sentence)
        assert unmarked(checked.text) == checked.text
        assert all(1 <= number <= len(PASSAGES) for number in checked.verdict.passages)


@pytest.mark.parametrize(
    ("bare", "placed"),
    [("So it is.", "So it is [1]."), ("Really?!", "Really [1]?!"), ("好。", "好 [1]。"), ("No stop", "No stop [1]")],
)
def test_marks_stand_before_the_full_stop(bare: str, placed: str) -> None:
    assert place(bare, "[1]") == placed


def test_script_names_the_writing_of_most_letters() -> None:
    assert [script(text) for text in ("hello", "你好", "привет", "123", "")] == ["latin", "cjk", "cyrillic", "", ""]
