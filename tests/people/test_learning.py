import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.people.learning import FADE, LONGEST_ODDS, NAMES, STEP, clicked, judged, learnt, propensity
from personable.people.weights import FEATURES, PRIOR, REACH, Candidate, Weights, order


def rows(count: int = 5) -> list[Candidate]:
    """A plain list whose even places are from `liked`, whose odd ones from `other`; words fall, closeness rises."""
    return [
        {
            "list:plain": 1 / (61 + n),
            "sparse": 10.0 - n,
            "dense": n / 10,
            f"source:{'other' if n % 2 else 'liked'}": 0.0,
        }
        for n in range(count)
    ]


def test_a_click_prefers_its_passage_to_the_others_and_weighs_by_its_place() -> None:
    assert clicked(0, 3) == [(0, 1, 0.5), (0, 2, 0.5)]
    assert clicked(2, 3) == [(2, 0, 1.5), (2, 1, 1.5)]
    assert clicked(2, 3, taken=[0]) == [(2, 1, 3.0)]
    assert clicked(0, 1) == []
    assert sum(weight for _, _, weight in clicked(49, 50)) == pytest.approx(LONGEST_ODDS)


def test_propensity_falls_with_the_place_down_to_a_floor() -> None:
    assert [propensity(place) for place in (1, 2, 4, 5, 100)] == [1.0, 0.5, 0.25, 0.2, 0.2]


def test_blind_clicks_prefer_no_place() -> None:
    """Clicks by coin, seen with chance 1 / place: no place is preferred more than another once corrected."""
    rng, net = random.Random(1), [0.0] * 5
    for _ in range(20_000):
        for place in range(5):
            if rng.random() < propensity(place + 1) and rng.random() < 0.5:
                for better, worse, weight in clicked(place, 5):
                    net[better] += weight
                    net[worse] -= weight
    assert max(map(abs, net)) / 20_000 < 0.03


def test_a_judgement_prefers_or_passes_over() -> None:
    assert judged(1, [0, 2], 1.0) == [(1, 0, 0.5), (1, 2, 0.5)]
    assert judged(1, [0, 2], -2.0) == [(0, 1, 1.0), (2, 1, 1.0)]
    assert judged(1, [0], 0.0) == judged(1, [], 1.0) == []


def test_choices_move_the_weights_of_what_tells_them_apart() -> None:
    own = Weights()
    for _ in range(5):
        own = learnt(own, rows(), clicked(4, 5))
    assert own.of("dense") > PRIOR["dense"]
    assert own.of("sparse") < PRIOR["sparse"]
    assert own.of("session") == pytest.approx(PRIOR["session"])
    assert own.affinity("source:liked") > 0 > own.affinity("source:other")


def test_steady_choices_are_proved_and_change_the_order() -> None:
    own = Weights()
    for _ in range(15):
        own = learnt(own, rows(), clicked(4, 5))
    assert own.proof > 0.5
    assert order(rows(), own, 1.0).index(4) < 4


def test_the_first_choice_proves_nothing() -> None:
    """It is tested by weights that had learnt nothing: they order as the plain list does."""
    assert learnt(Weights(), rows(), clicked(3, 5)).gain == 0.0


def test_blind_clicks_stay_unproved() -> None:
    rng, own, proofs = random.Random(4), Weights(), []
    for _ in range(200):
        own = learnt(own, rows(), clicked(rng.choices(range(5), [propensity(place) for place in range(1, 6)])[0], 5))
        proofs.append(own.proof)
    assert sum(proofs) / len(proofs) < 0.3


pairs = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0, 20)).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=8,
)


@given(st.lists(pairs, max_size=30))
def test_each_step_and_each_weight_is_bounded(lessons: list[list[tuple[int, int, float]]]) -> None:
    own = Weights()
    for lesson in lessons:
        before, own = own, learnt(own, rows(), lesson)
        for name in FEATURES:
            assert abs(own.of(name) - before.of(name)) <= STEP + FADE * REACH + 1e-9
            assert abs(own.of(name) - PRIOR[name]) <= REACH + 1e-9
        assert 0 <= own.proof <= 1


def test_nothing_to_compare_teaches_nothing() -> None:
    own = Weights(values={"sparse": 1.5})
    assert learnt(own, rows(), []) == own


def test_only_the_names_with_the_most_choices_are_kept() -> None:
    own = Weights(won={f"source:{n}": 1.0 + n for n in range(NAMES + 20)})
    own = learnt(own, rows(), clicked(1, 2))
    assert len({**own.won, **own.lost}) == NAMES
    assert "source:59" in own.won
    assert "source:0" not in own.won
