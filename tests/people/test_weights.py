import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.people.weights import FEATURES, KEPT, PRIOR, REACH, USUAL, Candidate, Weights, in_words, order, scaled
from personable.people.weights import scores as score_all

PROVED = {"gain": 9.0, "spread": 1.0}
"""Beyond doubt: proof 1."""

finite = st.floats(-50, 50)
places = st.integers(1, 300)


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    """Lists in their fused order, as `find` makes them."""
    rows = []
    for place in range(1, draw(st.integers(1, 12)) + 1):
        row = {"list:plain": 1 / (60 + place), "source:a": draw(st.floats(-1, 1))}
        for name in ("sparse", "dense", "session"):
            if draw(st.booleans()):
                row[name] = draw(finite)
        if draw(st.booleans()):
            row["list:s"] = draw(st.floats(0, 1)) / (60 + draw(places))
        rows.append(row)
    return sorted(rows, key=lambda row: -sum(v for k, v in row.items() if k.startswith("list:")))


any_values = st.dictionaries(st.sampled_from(FEATURES), st.floats(-0.9, 1.9))


@given(candidates(), st.floats(0, 1))
def test_who_has_chosen_nothing_gets_the_plain_order(rows: list[Candidate], strength: float) -> None:
    assert order(rows, Weights(), strength) == list(range(len(rows)))


@given(candidates(), any_values, st.floats(0, 1))
def test_unproved_weights_and_a_closed_gate_change_nothing(
    rows: list[Candidate], values: dict[str, float], strength: float
) -> None:
    plain = list(range(len(rows)))
    assert order(rows, Weights(values=values, gain=-1.0, spread=1.0), strength) == plain
    assert order(rows, Weights(values=values, **PROVED), 0.0) == plain


@given(candidates(), any_values, st.floats(0, 1))
def test_the_order_holds_everything_once_and_the_plain_first_near_the_top(
    rows: list[Candidate], values: dict[str, float], strength: float
) -> None:
    found = order(rows, Weights(values=values, **PROVED), strength)
    assert sorted(found) == list(range(len(rows)))
    assert found.index(0) < KEPT


def test_a_weight_of_two_for_statements_is_the_fusion_with_their_list_counted_twice() -> None:
    rows = [{"list:plain": 1 / (60 + p), "list:s": 0.3 / (60 + q)} for p, q in ((1, 90), (2, 75), (30, 200))]
    found = order(rows, Weights(values={"statements": 2.0}, **PROVED), 1.0)
    twice = [row["list:plain"] + 2 * row["list:s"] for row in rows]
    assert found == sorted(range(3), key=lambda row: -twice[row]) == [1, 0, 2]


def test_features_are_scaled_within_the_list() -> None:
    rows = [
        {"list:plain": 0.5, "sparse": 12.0, "dense": 0.4, "freshness": 2020.0, "source:a": 0.5},
        {"list:plain": 0.3, "list:s": 0.1, "sparse": 8.0, "freshness": 2010.0, "type:b": -0.25},
        {"list:plain": 0.1, "sparse": 4.0, "dense": 0.2},
    ]
    plain, features = scaled(rows)
    named = [dict(zip(FEATURES, row, strict=True)) for row in features]
    assert plain == pytest.approx([1.0, 0.75, 0.0])
    assert [row["sparse"] for row in named] == [1.0, 0.5, 0.0]
    assert [row["dense"] for row in named] == [1.0, 0.0, 0.0]
    assert [row["statements"] for row in named] == pytest.approx([0.0, 0.25, 0.0])
    assert [row["freshness"] for row in named] == [1.0, 0.0, 0.0]
    assert [(row["source"], row["type"]) for row in named] == [(0.5, 0.0), (0.0, -0.25), (0.0, 0.0)]
    assert [row["session"] for row in named] == [0.0, 0.0, 0.0]


def test_a_list_of_one_or_none_is_scored() -> None:
    assert order([], Weights(**PROVED), 1.0) == []
    assert score_all([{"list:plain": 0.1, "sparse": 3.0}], Weights(**PROVED), 1.0) == [0.0]


def test_proof_grows_with_choices_that_were_foretold_and_is_bounded() -> None:
    def proof(gain: float, spread: float) -> float:
        return Weights(gain=gain, spread=spread).proof

    assert proof(0.0, 0.0) == 0.0
    assert proof(-5.0, 5.0) == 0.0
    assert proof(2.0, 10.0) == 0.0
    assert 0 < proof(5.0, 10.0) < proof(8.0, 20.0) < 1
    assert proof(60.0, 100.0) == 1.0


def test_affinity_is_smoothed() -> None:
    own = Weights(won={"source:nhs": 3.0}, lost={"source:nhs": 1.0, "source:blog": 6.0})
    assert own.affinity("source:nhs") == pytest.approx(2 / 14)
    assert own.affinity("source:blog") == pytest.approx(-6 / 16)
    assert own.affinity("source:unknown") == 0.0


@given(any_values, st.dictionaries(st.sampled_from(["source:a", "type:b c"]), st.floats(0, 9)), finite)
def test_what_is_stored_is_read_again(values: dict[str, float], won: dict[str, float], gain: float) -> None:
    own = Weights(values=values, won=won, lost=won, gain=gain, spread=gain**2)
    assert Weights.read(own.stored()) == own


def test_what_was_learnt_fades_to_the_prior_with_its_proof() -> None:
    own = Weights(values={"sparse": 1.8, "source": 1.3}, won={"source:a": 4.0}, gain=2.0, spread=1.0)
    later = Weights.read(own.stored(), days=30)
    assert later.of("sparse") == pytest.approx(1.4)
    assert later.of("source") == pytest.approx(0.8)
    assert (later.won, later.gain, later.spread) == ({"source:a": 2.0}, 1.0, 0.5)
    gone = Weights.read(own.stored(), days=10_000)
    assert gone.of("sparse") == pytest.approx(PRIOR["sparse"])
    assert gone.proof == pytest.approx(0.0, abs=1e-6)
    assert Weights.read(own.stored(), days=-3) == own


def test_nothing_stored_is_the_prior() -> None:
    assert Weights.read({}) == Weights()
    assert all(Weights().of(name) == PRIOR[name] for name in FEATURES)


def test_in_words_says_what_counts_and_how_far_it_acts() -> None:
    own = Weights(
        values={"statements": 2.0, "sparse": 0.6, "freshness": 0.3, "dense": 1.01},
        won={"source:nhs.uk": 80.0},
        lost={"source:nhs.uk": 20.0, "type:news": 9.0},
        **PROVED,
    )
    said = in_words(own)
    assert said[0] == "Passages near what you told about yourself count 2.0 times as much as usual."
    assert "Passages with the words of the question count 0.6 times as much as usual." in said
    assert "Newer passages come higher than usual (by 30% of the list)." in said
    assert "Passages from nhs.uk come higher than usual (preferred in 80% of your choices)." in said
    assert "Passages of the type news come lower than usual (preferred in 0% of your choices)." in said
    assert not any("meaning" in line for line in said)
    assert said[-1].startswith("What was learnt acts with 100%")


def test_in_words_says_that_nothing_acts() -> None:
    assert in_words(Weights()) == ["Results come in the usual order: nothing that was learnt has proved better yet."]
    assert in_words(Weights(values={"sparse": 2.0}, gain=-1.0, spread=4.0)) == [
        *in_words(Weights()),
        "Learnt, but not acting yet: Passages with the words of the question count 2.0 times as much as usual.",
    ]


def test_the_bounds_fit_together() -> None:
    assert set(USUAL) == set(PRIOR) == set(FEATURES)
    assert min(1 + PRIOR[name] for name in FEATURES) >= REACH
    assert math.isfinite(sum(PRIOR.values()))
