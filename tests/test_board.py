import asyncio
import json
import math
import typing
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from personable.board import Board, Cost, Post, Text
from personable.errors import DataError
from personable.notes import AnyNote, DraftNote, FeedbackNote, Note, QuestionNote
from personable.types import Answer, Question, Tokens

NOTES = typing.get_args(typing.get_args(AnyNote)[0])
SCALARS = {
    str: st.text(max_size=20),
    int: st.integers(1, 10**6),
    float: st.floats(0, 1),
    bool: st.booleans(),
}


def values(kind: typing.Any) -> st.SearchStrategy[typing.Any]:
    """Any value of a field's type, found by walking the type: so a new note or field is tested without being listed."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind in SCALARS:
        return SCALARS[kind]
    if origin is typing.Annotated:
        return values(args[0])
    if origin is typing.Literal:
        return st.sampled_from(args)
    if origin is list:
        return st.lists(values(args[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(values(args[0]), values(args[1]), max_size=3)
    if type(None) in args:
        return st.none() | values(next(arg for arg in args if arg is not type(None)))
    if isinstance(kind, type) and issubclass(kind, Question):
        return st.builds(kind, text=st.text(min_size=1, max_size=20), person=st.none() | st.text(max_size=5))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return st.builds(kind, **{name: values(field.annotation) for name, field in kind.model_fields.items()})
    raise AssertionError(f"no strategy for {kind!r}")


COST = Cost(
    model="m", elsewhere=("m", "n"), answered=("m",), tokens=Tokens(prompt=3, cached=1, completion=2), dollars=0.1
)
posts = st.tuples(st.text(max_size=10), st.sampled_from(NOTES).flatmap(values), st.none() | st.floats(-5, 5))


@given(st.lists(posts, max_size=8))
def test_any_board_survives_json(given_posts: list[tuple[str, Note, float | None]]) -> None:
    board = Board()
    for role, note, score in given_posts:
        board.post(role, note, score=score, cost=COST)
    again = Board.from_json(board.to_json())
    assert again.all() == board.all()
    assert [type(post.content) for post in again.all()] == [type(note) for _, note, _ in given_posts]
    assert again.id == board.id


@pytest.mark.parametrize("data", ["", "{}", "[1]", '{"id": "b", "posts": [{"id": 1, "content": {"kind": "oracle"}}]}'])
def test_a_board_of_another_version_is_refused_by_its_name(data: str) -> None:
    with pytest.raises(DataError, match="answer a1 was stored by another version"):
        Board.from_json(data, "answer a1")


@pytest.mark.parametrize("said", [False, True])
def test_a_board_that_says_only_whether_a_prompt_left_is_read(said: bool) -> None:
    board = Board()
    board.post("responder", DraftNote(answer="Tea."), cost=Cost(model="m", calls=1))
    stored = json.loads(board.to_json())
    del stored["posts"][0]["cost"]["answered"]
    stored["posts"][0]["cost"]["elsewhere"] = said
    [post] = Board.from_json(json.dumps(stored)).all()
    assert post == board.all()[0]
    assert (post.cost.elsewhere, post.cost.answered) == ((), ())


def test_every_note_type_has_its_own_kind() -> None:
    kinds = [note.model_fields["kind"].default for note in NOTES]
    assert len(set(kinds)) == len(NOTES)
    assert set(NOTES) == set(Note.__subclasses__())


def test_posts_are_numbered_and_stamped_in_order() -> None:
    board = Board()
    first, second = board.post("a", DraftNote(answer="x")), board.post("b", DraftNote(answer="y"))
    assert (first.id, second.id) == (1, 2)
    assert first.timestamp <= second.timestamp <= datetime.now(UTC)


def test_latest_is_the_newest_of_its_type_and_all_keeps_the_order() -> None:
    board = Board()
    board.post("a", DraftNote(answer="old"))
    board.post("b", FeedbackNote(ask="?"))
    board.post("c", DraftNote(answer="new"))
    assert board.latest(DraftNote) == DraftNote(answer="new")
    assert board.latest(QuestionNote) is None
    assert [post.role for post in board.all(DraftNote)] == ["a", "c"]


def test_all_gives_a_copy_that_cannot_change_the_board() -> None:
    board = Board()
    board.post("a", DraftNote())
    board.all().clear()
    assert len(board.all()) == 1


def test_a_note_cannot_be_changed_after_it_was_posted() -> None:
    post = Board().post("a", DraftNote(answer="x"))
    with pytest.raises(ValidationError):
        post.content.answer = "y"  # type: ignore[union-attr]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(ValidationError):
        Board().post("a", DraftNote(), score=score)


async def test_a_subscriber_sees_past_and_future_posts_and_text_in_order() -> None:
    board = Board()
    board.post("a", DraftNote(answer="past"))
    events = board.subscribe()
    board.say("hello")
    board.post("b", DraftNote(answer="future"))
    board.close()
    seen = [event async for event in events]
    assert [event.text if isinstance(event, Text) else event.content.answer for event in seen] == [  # type: ignore[union-attr]
        "past",
        "hello",
        "future",
    ]


async def test_subscribing_to_a_closed_board_ends() -> None:
    board = Board()
    board.post("a", DraftNote())
    board.close()
    seen = [event async for event in board.subscribe()]
    assert len(seen) == 1


async def test_two_subscribers_each_see_everything_while_it_happens() -> None:
    board = Board()

    async def read() -> list[Post | Text]:
        return [event async for event in board.subscribe()]

    readers = [asyncio.create_task(read()) for _ in range(2)]
    await asyncio.sleep(0)
    for n in range(5):
        board.post("a", DraftNote(answer=str(n)))
        await asyncio.sleep(0)
    board.close()
    first, second = await asyncio.gather(*readers)
    assert first == second == board.all()


def test_text_is_never_stored() -> None:
    board = Board()
    board.say("secret")
    assert "secret" not in board.to_json()


def test_tokens_and_calls_add_up() -> None:
    board = Board()
    for _ in range(3):
        board.post("a", DraftNote(), cost=Cost(calls=2, tokens=Tokens(prompt=10, cached=4, completion=1)))
    assert board.tokens == Tokens(prompt=30, cached=12, completion=3)
    assert board.calls == 6


def test_an_answer_note_keeps_every_field() -> None:
    answer = Answer(id="1", question="q", text="t [1]", degraded=["x"], suggestions=["y"])
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
