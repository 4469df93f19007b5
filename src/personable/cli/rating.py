"""`rate`: the seven ratings of certified answers, and their table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.options import Home, Json, Model, ModelUrl, print_json, run, settings

if TYPE_CHECKING:
    from personable.evaluation.ratings import Rating, Scores
    from personable.settings import Settings

SCALE = "1 (not at all) to 5 (very)."


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(rate)


def rate(
    answer: Annotated[str | None, typer.Argument(help="The certified answer's id; none with --table.")] = None,
    q1: Annotated[int | None, typer.Option(min=0, max=1, help="Does the answer bear on the question? 0 or 1.")] = None,
    q2: Annotated[int | None, typer.Option(min=0, max=3, help="How many of the three links do? 0 to 3.")] = None,
    q3: Annotated[int | None, typer.Option(min=1, max=5, help=f"Easy to understand? {SCALE}")] = None,
    q4: Annotated[int | None, typer.Option(min=1, max=5, help=f"Complete? {SCALE}")] = None,
    q5: Annotated[int | None, typer.Option(min=1, max=5, help=f"Framed for what was meant? {SCALE}")] = None,
    q6: Annotated[int | None, typer.Option(min=1, max=5, help=f"To be trusted? {SCALE}")] = None,
    q7: Annotated[int | None, typer.Option(min=1, max=5, help=f"Useful? {SCALE}")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="Let the judge model rate it.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Show average, max, min and variance by kind of rater.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the table as a page into a report's folder.")] = None,
    json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    home: Home = None,
) -> None:
    """Rate a certified answer by the seven published questions, as a person or by a model; or show the table."""
    from personable.errors import UsageError
    from personable.evaluation.ratings import Scores, rating_table, ratings_markdown, read_ratings, write_ratings

    conf = settings(model=model, model_url=model_url, home=home)
    given = {"q1": q1, "q2": q2, "q3": q3, "q4": q4, "q5": q5, "q6": q6, "q7": q7}
    missing = [name for name, value in given.items() if value is None]
    if table:
        ratings = read_ratings(conf.home)
        if out is not None:
            print(write_ratings(ratings, out))
        elif json:
            print_json([line.model_dump(mode="json") for line in rating_table(ratings)])
        else:
            print(ratings_markdown(ratings) if ratings else "nothing was rated yet: personable rate ANSWER --q1 …")
        return
    if answer is None or (missing and not judge) or (judge and len(missing) < len(given)):
        raise UsageError("rate an answer with all of --q1 … --q7, or with --judge; --table shows what was rated")
    made = run(_rate(conf, answer, None if judge else Scores.model_validate(given)))
    print_json(made) if json else print(" ".join(f"{name.upper()} {value}" for name, value in made.scores))


async def _rate(conf: Settings, id: str, scores: Scores | None) -> Rating:
    from personable.errors import ConfigurationError
    from personable.evaluation.ratings import Rating, certified_board, judge, keep_rating, stored_answer
    from personable.kit import open_model, open_people

    async with await open_people(conf) as people:
        kept = await people.any_answer(id)
    note = certified_board(kept.board, id)
    if scores is not None:
        rating = Rating(answer=id, method=note.certification.method, rater="person", scores=scores)
    else:
        answer = stored_answer(kept.answer, id)
        model = open_model(conf, conf.judge_model or conf.model)
        if model is None:
            raise ConfigurationError("no model to judge with: set judge_model, or --model NAME")
        try:
            rating = await judge(model, answer, note)
        finally:
            await model.close()
    keep_rating(conf.home, rating)
    return rating
