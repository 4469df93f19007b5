"""Ratings of certified answers, by people and by models: the seven of the source (CEUR-WS 3784, short 1).

Q1 is 0 or 1, Q2 how many of the three links are relevant (a precision over three), Q3 to Q7 are 1 to 5. Kinds and
scales are the source's; the wording is our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from statistics import mean, pvariance
from typing import Literal

from pydantic import Field, ValidationError

from personable.agent import Desk
from personable.board import Board
from personable.errors import DataError, ModelOutputError
from personable.evaluation.page import page
from personable.llm.base import LanguageModel
from personable.notes import CertifiedNote
from personable.prompts import fit, render
from personable.types import Answer, Value

Rater = Literal["person", "model"]
QUESTIONS = {
    "q1": "Does the answer bear on the question?",
    "q2": "How many of the links bear on the question?",
    "q3": "Is the answer easy to understand?",
    "q4": "Is the answer complete?",
    "q5": "Is the answer framed for what was meant?",
    "q6": "Can the answer be trusted?",
    "q7": "Is the answer useful?",
}
FILE = "ratings.jsonl"
ANSWER_TOKENS = 2000


class Scores(Value):
    """The seven ratings of one answer."""

    q1: int = Field(ge=0, le=1, description="1 if the answer bears on the question, else 0")
    q2: int = Field(ge=0, le=3, description="how many of the three sources bear on the question")
    q3: int = Field(ge=1, le=5, description="easy to understand: 1 not at all, 5 very")
    q4: int = Field(ge=1, le=5, description="complete: 1 not at all, 5 very")
    q5: int = Field(ge=1, le=5, description="framed for what was meant: 1 not at all, 5 very")
    q6: int = Field(ge=1, le=5, description="trustworthy: 1 not at all, 5 very")
    q7: int = Field(ge=1, le=5, description="useful: 1 not at all, 5 very")


class Rating(Value):
    """A rating of an answer; whose it is, is not kept: only whether a person or which `model` gave it."""

    answer: str
    method: str
    rater: Rater
    model: str = ""
    scores: Scores


class Line(Value):
    """One question of the published table, for one kind of rater; Q2 as precision over three."""

    rater: Rater
    question: str
    n: int
    average: float
    most: float
    least: float
    variance: float


def keep_rating(home: Path, rating: Rating) -> None:
    """Add a rating to those under `home`."""
    with (home / FILE).open("a", encoding="utf-8") as file:
        file.write(rating.model_dump_json() + "\n")


def read_ratings(home: Path) -> list[Rating]:
    """The ratings under `home`, the latest of each answer and rater kind (models apart). Raises DataError for a line
    that is none."""
    path = home / FILE
    found: dict[tuple[str, str, str], Rating] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.is_file() else [], 1):
        try:
            one = Rating.model_validate_json(line)
        except ValidationError as error:
            raise DataError(f"{path}:{number} is no rating: {error.errors()[0]['msg']}; take the line out") from error
        found[one.answer, one.rater, one.model] = one
    return list(found.values())


def rating_table(ratings: Sequence[Rating]) -> list[Line]:
    """Average, highest, lowest and (population) variance of each question, kept apart by the kind of rater."""
    lines = []
    for rater in ("person", "model"):
        some = [one.scores for one in ratings if one.rater == rater]
        for name in QUESTIONS if some else ():
            values = [getattr(scores, name) / (3 if name == "q2" else 1) for scores in some]
            lines.append(
                Line(
                    rater=rater,
                    question=name,
                    n=len(values),
                    average=mean(values),
                    most=max(values),
                    least=min(values),
                    variance=pvariance(values),
                )
            )
    return lines


def ratings_markdown(ratings: Sequence[Rating]) -> str:
    """The table as Markdown."""
    rows = ["| rater | question | n | average | max | min | variance |", "|---|---|---|---|---|---|---|"]
    for one in rating_table(ratings):
        asked = f"{one.question.upper()}: {QUESTIONS[one.question]}"
        figures = (one.average, one.most, one.least, one.variance)
        rows.append(f"| {one.rater} | {asked} | {one.n} | {' | '.join(f'{value:.2f}' for value in figures)} |")
    return "\n".join(rows)


def write_ratings(ratings: Sequence[Rating], out: Path) -> Path:
    """The table as `ratings.md` and as the page `ratings.html` in `out`, beside a report; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    table = ratings_markdown(ratings)
    (out / "ratings.md").write_text(f"# Ratings of certified answers\n\n{table}\n", encoding="utf-8")
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    html = f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'
    (out / "ratings.html").write_text(page("Ratings of certified answers", [html]), encoding="utf-8")
    return out / "ratings.html"


def certified_board(stored: str, answer: str) -> CertifiedNote:
    """What a stored board says about the sources. Raises DataError for an answer that is not a certified one."""
    note = Board.from_json(stored).latest(CertifiedNote)
    if note is None:
        raise DataError(f"answer {answer} is not a certified one; use `personable feedback` for others")
    return note


def stored_answer(stored: str, answer: str) -> Answer:
    """A stored answer. Raises DataError where `stored` is none that this version can read."""
    try:
        return Answer.model_validate_json(stored)
    except ValidationError as error:
        raise DataError(f"answer {answer} was stored by another version and cannot be read; ask again") from error


async def judge(model: LanguageModel, answer: Answer, note: CertifiedNote) -> Rating:
    """The ratings that `model` gives. Raises ModelError."""
    text = fit([answer.text], ANSWER_TOKENS)[0]
    links = [one.title for one in note.certification.sources]
    desk = Desk(model, render("certify/judge_system"), "")
    prompt = desk.prompt("judge", "certify/judge", question=answer.question[:4000], answer=text, links=links)
    reply = await model.write(prompt, Scores, 120)
    if reply.value is None:
        raise ModelOutputError(f"{reply.model} gave no ratings")
    return Rating(
        answer=answer.id, method=note.certification.method, rater="model", model=reply.model, scores=reply.value
    )
