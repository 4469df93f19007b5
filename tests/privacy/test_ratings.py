"""Ratings name no rater, and those of a person's answers go with the person."""

from __future__ import annotations

from pathlib import Path

from personable.evaluation.ratings import FILE, Rating, Scores, keep_rating, read_ratings
from personable.people.erasure import erase
from tests.stores import new_people

SCORES = Scores(q1=1, q2=2, q3=4, q4=4, q5=4, q6=4, q7=4)


async def test_ratings_of_an_erased_persons_answers_are_erased_and_others_stay(tmp_path: Path) -> None:
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        await people.add("ben")
        mine, other = "3f8a" * 8, "9c1d" * 8
        await people.save_answer(mine, "ana", None, '{"question": "is my gout bad?"}', "{}")
        await people.save_answer(other, "ben", None, '{"question": "what is asthma?"}', "{}")
        for answer in (mine, other):
            keep_rating(tmp_path, Rating(answer=answer, method="default", rater="person", scores=SCORES))
        assert "ana" not in (tmp_path / FILE).read_text(encoding="utf-8")
        receipt = await erase(people, tmp_path, "ana")
    assert receipt.clean
    assert [one.answer for one in read_ratings(tmp_path)] == [other]
