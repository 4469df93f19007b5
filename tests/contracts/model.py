"""What every LanguageModel must do. A test class inherits ModelContract and makes the models it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, aclosing

import pytest
from pydantic import Field

from personable.errors import ModelError, ModelOutputError
from personable.llm import LanguageModel, Prompt, Reply
from personable.types import Value

PROMPT = Prompt(system="You answer briefly.", shared="Ada likes tea.", task="What does Ada like?", hash="0", agent="a")


class Need(Value):
    """The typed output that the contract asks for."""

    need: str
    queries: list[str] = Field(default_factory=list, max_length=3)
    score: float = Field(0.5, ge=0, le=1)


class ModelContract:
    """`model(texts)` is a model that gives these texts, one a request, and then the last one again."""

    def model(self, texts: Sequence[str]) -> AbstractAsyncContextManager[LanguageModel]:
        raise NotImplementedError

    async def test_text_comes_back_whole_with_its_cost(self) -> None:
        async with self.model(["Ada likes tea."]) as model:
            reply = await model.write(PROMPT)
        assert reply.text == "Ada likes tea."
        assert reply.value is None
        assert (reply.calls, reply.repaired, reply.cut) == (1, False, "")
        assert reply.tokens.prompt > 0
        assert reply.tokens.completion > 0
        assert reply.seconds >= 0

    async def test_the_reply_says_which_model_ran(self) -> None:
        async with self.model(["Tea."]) as model:
            assert (await model.write(PROMPT)).model

    async def test_valid_json_becomes_the_value_without_repair(self) -> None:
        async with self.model(['{"need": "tea", "queries": ["green tea"], "score": 0.25}']) as model:
            reply = await model.write(PROMPT, Need)
        assert reply.value == Need(need="tea", queries=["green tea"], score=0.25)
        assert not reply.repaired

    async def test_json_in_prose_and_fences_is_mended(self) -> None:
        async with self.model(["Sure! Here it is:\n```json\n{'need': 'tea',}\n```\nAnything else?"]) as model:
            reply = await model.write(PROMPT, Need)
        assert reply.value == Need(need="tea")
        assert (reply.repaired, reply.calls) == (True, 1)

    async def test_what_cannot_be_mended_is_asked_for_once_more(self) -> None:
        async with self.model(["I would rather not.", '{"need": "tea"}']) as model:
            reply = await model.write(PROMPT, Need)
        assert reply.value == Need(need="tea")
        assert (reply.repaired, reply.calls) == (True, 2)

    async def test_twice_unusable_is_an_output_error_that_shows_it(self) -> None:
        async with self.model(["I would rather not."]) as model:
            with pytest.raises(ModelOutputError, match="I would rather not") as raised:
                await model.write(PROMPT, Need)
        assert raised.value.calls == 2
        assert raised.value.tokens
        assert raised.value.tokens.completion > 0, "what was written in vain was paid for, too"

    async def test_an_empty_answer_is_an_output_error(self) -> None:
        async with self.model([""]) as model:
            with pytest.raises(ModelOutputError, match="nothing"):
                await model.write(PROMPT)

    async def test_repetition_is_cut_off_and_said(self) -> None:
        async with self.model(["Ada likes tea. " + "She likes it a lot. " * 500]) as model:
            reply = await model.write(PROMPT)
        assert reply.text == "Ada likes tea. She likes it a lot."
        assert reply.cut == "repetition"

    async def test_a_stream_is_pieces_and_then_one_reply(self) -> None:
        async with self.model(["Ada likes tea."]) as model:
            *pieces, last = [piece async for piece in model.stream(PROMPT)]
        assert "".join(piece for piece in pieces if isinstance(piece, str)) == "Ada likes tea."
        assert len(pieces) > 0
        assert isinstance(last, Reply)
        assert last.text == "Ada likes tea."
        assert last.tokens.completion > 0

    async def test_an_empty_stream_is_an_output_error(self) -> None:
        async with self.model([""]) as model:
            with pytest.raises(ModelOutputError, match="nothing"):
                _ = [piece async for piece in model.stream(PROMPT)]

    async def test_a_stream_may_be_left_early_and_the_model_asked_again(self) -> None:
        async with self.model(["Ada likes tea, milk and honey."]) as model:
            async with aclosing(model.stream(PROMPT)) as pieces:
                first = await anext(pieces)
            assert isinstance(first, str)
            assert (await model.write(PROMPT)).text == "Ada likes tea, milk and honey."

    async def test_calls_side_by_side_get_their_answers(self) -> None:
        async with self.model(["Ada likes tea."]) as model:
            replies = await asyncio.gather(*(model.write(PROMPT) for _ in range(3)))
        assert [reply.text for reply in replies] == ["Ada likes tea."] * 3

    async def test_it_says_what_it_is(self) -> None:
        async with self.model(["Tea."]) as model:
            assert model.name
            assert model.remote is False
            assert model.concurrency >= 1

    async def test_closing_twice_is_harmless(self) -> None:
        async with self.model(["Tea."]) as model:
            first = await model.write(PROMPT)
            await model.close()
            await model.close()
            assert (await model.write(PROMPT)).text == first.text == "Tea."


def failing() -> ModelError:
    """A passing failure, for tests."""
    return ModelError("the model is away")
