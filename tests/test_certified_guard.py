import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.certified_guard import CertifiedGuard
from personable.text import sentences
from personable.types import Passage

PASSAGES = [
    Passage(
        id="a",
        title="What are the treatments for gout ?",
        text="Do not take aspirin if you have gout. Adults take 20 mg in the morning and 40 mg in the evening. "
        "Drink plenty of water, and rest. It isn't contagious.",
    ),
    Passage(
        id="b",
        title="Asthma",
        text="Asthma may cause wheezing. Adults need rest but children do not need rest. Some people lack lactase.",
    ),
    Passage(id="c", title="Gotta", text="Non prenda più di 2 compresse al giorno."),
]


def guard(language: str = "en") -> CertifiedGuard:
    return CertifiedGuard(PASSAGES, language)


@pytest.mark.parametrize(
    ("sentence", "action", "passages"),
    [
        ("Do not take aspirin if you have gout [1].", "kept", [1]),
        ("Do not take aspirin if you have gout.", "cited", [1]),
        ("Do not take aspirin if you have gout [2].", "cited", [1]),
        ("You should rest [1].", "removed", []),
        ("Drink water, and rest [1].", "kept", [1]),
        ("Asthma may cause wheezing [2][9].", "kept", [2]),
        ("Children do not need rest [2].", "kept", [2]),
        ("It is not contagious [1].", "kept", [1]),
    ],
)
def test_an_extract_of_one_certified_sentence_stays_with_its_source(
    sentence: str, action: str, passages: list[int]
) -> None:
    checked = guard().check(sentence)
    assert (checked.verdict.action, checked.verdict.passages) == (action, passages), checked.verdict.reason
    assert (checked.text == "") == (action == "removed")
    assert "[" not in checked.text


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Take aspirin if you have gout [1].", "a dropped negation"),
        ("Do not take aspirin [1].", "a dropped condition"),
        ("Do not take ibuprofen if you have gout [1].", "an invented drug"),
        ("Adults take 30 mg in the morning and 40 mg in the evening [1].", "a number from nowhere"),
        ("Adults take 40 mg in the morning and 20 mg in the evening [1].", "two doses that changed places"),
        ("Adults take 20 g in the morning and 40 mg in the evening [1].", "another unit"),
        ("Adults take 40 mg in the morning [1].", "a dose at another time"),
        ("Asthma causes wheezing [2].", "a dropped hedge"),
        ("Adults do not need rest [2].", "a negation moved to somebody else"),
        ("Children need rest but adults do not need rest [2].", "roles that changed places"),
        ("It is contagious [1].", "a dropped short negation"),
        ("Gout heals by itself within a week [1].", "a foreign sentence"),
        ("Wheezing may cause asthma [2].", "cause and effect that changed places"),
        ("Some people lactase [2].", "a dropped verb that denies"),
        ("[1]", "nothing"),
        ("It is what it was [1].", "no claim"),
    ],
)
def test_what_changes_certified_text_never_leaves(sentence: str, why: str) -> None:
    checked = guard().check(sentence)
    assert (checked.text, checked.verdict.action) == ("", "removed"), why
    assert checked.verdict.reason


def test_what_leaves_is_the_whole_certified_sentence() -> None:
    source = (
        "Take two tablets three times a day. Switch from warfarin to heparin before surgery. "
        "It is dangerous to take aspirin with alcohol. Lowers blood pressure and raises blood sugar. Is it safe? No."
    )
    guarded = CertifiedGuard([Passage(id="p", title="Is it safe to take ibuprofen?", text=source)])
    whole = {one.text for one in sentences(source)}
    for shortened in (
        "Take two times a day [1].",
        "Switch to warfarin from heparin before surgery [1].",
        "You are to take aspirin with alcohol [1].",
        "It lowers blood sugar [1].",
        "Take -two tablets three times a day 💊 [1].",
        "Why not take two tablets three times a day [1]?",
        "It is safe to take ibuprofen [1].",
        "Is it safe [1]?",
        "It is safe [1].",
    ):
        assert guarded.check(shortened).text in whole | {""}
    assert guarded.check("It is safe to take ibuprofen [1].").text == ""
    assert guarded.check("It is safe [1].").text == ""
    assert guarded.check("Why not take two tablets three times a day [1]?").text == ""
    assert guarded.check("You are to take aspirin with alcohol [1].").verdict.reason.startswith("the whole certified")


def test_negations_and_doses_hold_in_italian() -> None:
    assert guard("it").check("Non prenda più di 2 compresse al giorno [3].").verdict.action == "kept"
    for corrupted in ("Prenda più di 2 compresse al giorno.", "Non prenda più di 3 compresse al giorno."):
        assert guard("it").check(corrupted).text == ""


def test_each_certified_sentence_passes_as_it_is() -> None:
    for number, passage in enumerate(PASSAGES, 1):
        for one in sentences(passage.text):
            verdict = guard().check(one.text).verdict
            assert (verdict.action, verdict.passages) == ("cited", [number]), one.text


@given(st.text(alphabet=st.sampled_from("abc 0123456789.,n'tmg"), max_size=60))
def test_no_text_from_elsewhere_brings_a_new_number(text: str) -> None:
    checked = guard().check(text)
    assert not checked.text or not set(checked.text) & set("1356789")
