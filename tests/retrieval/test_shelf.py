"""The lists that rank items, and the weights that are fitted to choices."""

from __future__ import annotations

import numpy as np
import pytest

from personable.embed import make_embedder
from personable.errors import DataError
from personable.retrieval.choice import FEWEST, UNFITTED, HeldOut, fit, hold_out
from personable.retrieval.shelf import LISTS, Context, Deeds, Shelf, item_terms
from personable.retrieval.terms import Terms
from personable.retrieval.visits import Visits
from personable.types import Item

TITLES = ["red ink", "blue ink", "oak desk", "oak chair", "wall clock"]
RED, BLUE, DESK, CHAIR, CLOCK = range(5)


def shelf(*everybody: list[list[int]], titles: list[str] = TITLES) -> Shelf:
    items = [Item(id=str(row), title=title) for row, title in enumerate(titles)]
    vectors = make_embedder("hash:64").passages(titles)
    return Shelf(item_terms(items, "en"), vectors, Visits.count(len(titles), everybody))


def column(one: Shelf, context: Context, name: str) -> list[float]:
    return one.lists(context)[:, LISTS.index(name)].tolist()


def test_tf_idf_is_the_cosine_of_rare_words() -> None:
    terms = Terms([*TITLES, ""], "en")
    near = terms.near(np.array([RED]), np.array([1.0]))
    assert near[RED] == pytest.approx(1.0)
    assert near[BLUE] > 0
    assert near[DESK] == near[5] == 0
    assert terms.near_text("ink, please")[BLUE] == pytest.approx(terms.near_text("INK")[BLUE])
    assert not terms.near_text("nothing known").any()


def test_co_visitation_is_a_cosine_of_persons_and_of_sessions() -> None:
    visits = Visits.count(5, [[[RED, BLUE], [DESK]], [[RED, BLUE, BLUE]], [[RED]]])
    one = np.array([RED]), np.array([1.0])
    assert visits.people.near(*one).tolist() == pytest.approx([0, 2 / np.sqrt(6), 1 / np.sqrt(3), 0, 0])
    assert visits.together.near(*one).tolist() == pytest.approx([0, 2 / np.sqrt(6), 0, 0, 0])
    assert visits.popular.tolist() == [3, 2, 1, 0, 0]


def test_next_looks_forward_only_and_is_no_certainty() -> None:
    visits = Visits.count(5, [[[RED, BLUE, DESK]]])
    assert visits.next.near(np.array([BLUE]), np.array([1.0])).tolist() == pytest.approx([0, 0, 0.2, 0, 0])
    assert visits.next.near(np.array([RED]), np.array([1.0])).tolist() == pytest.approx([0, 0.2, 0.14, 0, 0])


def test_nobody_did_anything() -> None:
    lists = shelf().lists(Context.of([], []))
    assert lists.shape == (5, len(LISTS))
    assert lists[:, :-1].tolist() == [[0.0] * (len(LISTS) - 1)] * 5
    assert lists[:, -1].tolist() == [1.0] * 5


def test_session_and_history_are_kept_apart() -> None:
    one = shelf([[RED, BLUE]])
    assert column(one, Context.of([], [RED]), "session words")[BLUE] > 0
    assert column(one, Context.of([], [RED]), "history words")[BLUE] == 0
    assert column(one, Context.of([RED], []), "history co-visits")[BLUE] == pytest.approx(1.0)
    assert column(one, Context.of([RED], []), "session co-visits")[BLUE] == 0


def test_the_latest_deed_counts_most_and_worth_is_kept() -> None:
    assert Deeds.of([RED, BLUE], 0.5).weights.tolist() == [0.5, 1.0]
    assert Deeds.of([RED, BLUE], 1.0, [2.0, 1.0]).weights.tolist() == [1.0, 0.5]
    assert Deeds.of([], 0.5).weights.tolist() == []


def test_without_vectors_meaning_says_nothing() -> None:
    plain = Shelf(Terms(TITLES, "en"), None, Visits.count(5, []))
    assert column(plain, Context.of([RED], [RED]), "session meaning") == [0.0] * 5


def test_the_last_new_item_is_held_out_with_its_session() -> None:
    assert hold_out([[RED, DESK], [RED, BLUE, CHAIR]]) == HeldOut([[RED, DESK], [RED]], [RED, DESK], [RED], BLUE)
    assert hold_out([[RED, BLUE, DESK, CHAIR, CLOCK]]) == HeldOut(
        [[RED, BLUE, DESK, CHAIR]], [RED], [BLUE, DESK, CHAIR], CLOCK
    )


@pytest.mark.parametrize("sessions", [[], [[]], [[RED]], [[RED, RED]], [[RED], [BLUE]], [[RED], [RED, RED]]])
def test_nothing_is_held_out_where_nothing_new_follows(sessions: list[list[int]]) -> None:
    assert hold_out(sessions) is None


def test_weights_follow_what_people_choose() -> None:
    titles = [f"{colour} {thing}" for thing in ("ink", "desk", "clock", "lamp", "cup") for colour in "abcdefghij"]
    random = np.random.default_rng(0)
    items = [Item(id=str(row), title=title) for row, title in enumerate(titles)]
    kinds = [random.integers(0, 5) * 10 + random.permutation(10)[:4] for _ in range(FEWEST + 10)]
    everybody = [[[int(row) for row in chosen]] for chosen in kinds]
    fusion = fit(item_terms(items, "en"), None, everybody)
    assert fusion.choices == FEWEST + 10
    assert fusion.weights["session words"] > 0
    assert fusion.weights["session meaning"] == 0, "a list that never differs cannot be weighed"
    seen = Shelf(item_terms(items, "en"), None, Visits.count(50, everybody))
    scores = fusion.scores(seen.lists(Context.of([], [0, 1])))
    scores[[0, 1]] = -np.inf
    assert int(scores.argmax()) < 10, "who looked at ink is offered ink"


def test_what_is_held_out_is_not_counted() -> None:
    """Each person chose an item that nobody else had: lists that had counted it would put it first."""
    random = np.random.default_rng(1)
    titles = [f"thing {number}" for number in range(120)]
    items = [Item(id=str(row), title=title) for row, title in enumerate(titles)]
    everybody = [[[*random.permutation(60)[:3].tolist(), 60 + person]] for person in range(40)]
    trial = fit(item_terms(items, "en"), None, everybody).trial
    assert trial is not None
    assert max(trial.fitted, trial.unfitted) < 0.2


def test_a_fit_to_chance_is_not_kept() -> None:
    """Whatever people had, the next thing is drawn at random: on choices that it did not see a fit gains nothing."""
    random = np.random.default_rng(2)
    terms = Terms([f"{colour} {thing}" for thing in range(5) for colour in "abcdefghij"], "en")
    lost = 0
    for _ in range(6):
        fusion = fit(terms, None, [[random.permutation(50)[:4].tolist()] for _ in range(FEWEST)])
        trial = fusion.trial
        assert trial is not None
        assert trial.n == FEWEST
        kept = fusion.choices == FEWEST
        assert kept == (trial.fitted > trial.unfitted)
        assert (fusion.weights == UNFITTED.weights) == (not kept)
        lost += not kept
    assert lost >= 2


def test_too_few_choices_are_refused() -> None:
    with pytest.raises(DataError, match="weights need 30"):
        fit(Terms(TITLES, "en"), None, [[[RED, BLUE]]] * (FEWEST - 1))


def test_the_unfitted_weights_name_every_list() -> None:
    assert set(UNFITTED.weights) == set(LISTS)
