from pathlib import Path

import pytest

from personable.errors import UsageError
from personable.evaluation.compare import Group, compare
from personable.evaluation.outcome import Outcome, Record
from personable.evaluation.runfile import Identity, RunFile
from personable.types import Passage, Tokens

pytestmark = pytest.mark.slow  # every comparison counts syllables, and textstat reads a whole dictionary for it


def run(system: str, answers: list[str | None], *, gold: str = "yes", digest: str = "d", model: str = "m") -> RunFile:
    """A run whose answers are given (None: failed), each for 10 prompt tokens (4 cached) and 2 written."""
    identity = Identity(system=system, dataset="set", questions=4, digest=digest, model=model, settings={}, version="1")
    records = {}
    for number, answer in enumerate(answers):
        outcome = Outcome(
            answer=answer or "",
            error="ModelError: none" if answer is None else None,
            passages=(Passage(id="p", text="no"), Passage(id="r", text="yes")),
            calls=2,
            steps=2,
            tokens=Tokens(prompt=10, cached=4, completion=2),
            seconds=1.5,
        )
        record = Record(
            id=str(number), index=number, question="?", answers=(gold,) if gold else (), relevant={}, outcome=outcome
        )
        records[record.id] = record
    return RunFile(Path("runs") / system / model, identity, records)


def only(group: list[Group]) -> Group:
    (one,) = group
    return one


def test_figures_keep_failed_and_empty_answers_in_the_denominator() -> None:
    group = only(compare([run("a", ["yes", "yes indeed", "", None])]))
    accuracy = group.results[0].figures["accuracy"]
    assert (accuracy.mean, accuracy.n) == (0.5, 4)
    assert group.results[0].figures["em"].mean == 0.25
    assert group.results[0].figures["f1"].mean == pytest.approx((1 + 2 / 3) / 4)
    assert group.results[0].figures["words"].mean == 3 / 4
    assert group.results[0].figures["syllables"].n == 2
    assert [record.id for record in group.results[0].failed] == ["3"]


def test_passages_are_scored_up_to_as_many_as_there_are() -> None:
    figures = only(compare([run("a", ["yes"] * 4)])).results[0].figures
    assert figures["passage@1"].mean == 0
    assert "passage@3" not in figures


def test_paired_tests_against_the_baseline() -> None:
    ours, base = run("ours", ["yes", "yes", "yes", "no"]), run("base", ["no", "no", "yes", "yes"])
    group = only(compare([ours, base], baseline="base"))
    found = {result.name: result.paired for result in group.results}
    assert found["base"] == {}
    accuracy = found["ours"]["accuracy"]
    assert accuracy.tally == (2, 1, 1)
    assert (accuracy.test, accuracy.p) == ("McNemar", 1.0)
    assert accuracy.difference.mean == 0.25
    assert found["ours"]["f1"].test == "randomisation"


def test_pairs_are_the_questions_that_both_have() -> None:
    group = only(compare([run("ours", ["yes", "no"]), run("base", ["no", "no", "yes", "yes"])], baseline="base"))
    assert group.results[0].paired["accuracy"].difference.n == 2
    assert group.results[0].missing == 2


def test_cost_and_cost_of_a_right_answer() -> None:
    cost = only(compare([run("a", ["yes", "yes", "no", None])])).results[0].cost
    assert (cost.calls, cost.steps, cost.seconds, cost.right) == (8, 2, 6.0, 2)
    assert cost.tokens == Tokens(prompt=40, cached=16, completion=8)
    assert cost.paid == 32
    assert cost.per_right(cost.paid) == 16
    assert only(compare([run("a", ["no"])])).results[0].cost.per_right(3) is None


def test_bleu_against_the_baseline() -> None:
    group = only(compare([run("a", ["the cat sat down"] * 2), run("base", ["the cat sat down"] * 2)], baseline="base"))
    assert group.results[0].bleu == pytest.approx(100)
    assert group.results[1].bleu is None


def test_without_gold_answers_the_group_says_what_cannot_be_computed() -> None:
    group = only(compare([run("a", ["yes"], gold="")]))
    assert "accuracy" not in group.results[0].figures
    assert group.results[0].cost.right is None
    assert "no gold answers, so these cannot be computed: Accuracy, At word borders, Exact match" in group.notes[0]


def test_relevance_judgements_give_ranking_metrics() -> None:
    source = run("a", ["", ""], gold="")
    scores = ({"r": 2.0, "x": 1.0}, {"x": 2.0, "r": 1.0})
    for (id, record), score in zip(list(source.records.items()), scores, strict=True):
        outcome = record.outcome.model_copy(update={"scores": score})
        source.records[id] = record.model_copy(update={"relevant": {"r": 1}, "outcome": outcome})
    figures = only(compare([source])).results[0].figures
    assert figures["RR"].mean == 0.75
    assert figures["Success@5"].mean == 1


def test_runs_over_other_questions_are_another_group() -> None:
    assert len(compare([run("a", ["yes"]), run("b", ["yes"], digest="e")])) == 2


def test_the_same_system_with_two_models_has_two_names() -> None:
    group = only(compare([run("a", ["yes"], model="m1"), run("a", ["no"], model="m2")]))
    assert [result.name for result in group.results] == ["a (m1)", "a (m2)"]


def test_vanilla_rag_is_the_baseline_unless_another_is_chosen() -> None:
    runs = [run("a", ["yes"]), run("vanilla_rag", ["no"])]
    assert only(compare(runs)).baseline == "vanilla_rag"
    assert only(compare(runs, baseline="a")).baseline == "a"
    assert only(compare([run("a", ["yes"]), run("b", ["no"])])).baseline == "a"


def test_an_unknown_baseline_is_refused_and_one_missing_here_is_noted() -> None:
    with pytest.raises(UsageError, match="no run of baseline 'x'; there are a"):
        compare([run("a", ["yes"])], baseline="x")
    groups = compare([run("a", ["yes"]), run("b", ["yes"], digest="e")], baseline="a")
    assert groups[1].notes == ("No run of baseline 'a' over these questions: no paired tests.",)
    assert groups[1].results[0].paired == {}


def test_runs_without_answers_are_refused() -> None:
    with pytest.raises(UsageError, match="no answers yet"):
        compare([run("a", [])])
