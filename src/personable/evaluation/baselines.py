"""The systems that PersonaRAG (arXiv 2407.09394) is compared with in section 4.2, as one coroutine each.

They read only the question and the passages given with it. What is scored is all that the last call wrote, reasoning
included, as in the published experiments; the length in words stands beside every score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, Field, JsonValue

from personable.errors import ConfigurationError, ModelError, ModelRefusedError
from personable.evaluation.datasets import Row
from personable.evaluation.outcome import Outcome, System
from personable.kit import Kit
from personable.llm.base import LanguageModel, Prompt, Reply
from personable.prompts import prompt_hash, render
from personable.types import Passage, Tokens

T = TypeVar("T", bound=BaseModel)

REFERENCE_AGENTS = ("user_profile", "contextual_retrieval", "live_session", "document_ranking", "feedback")


class Talk:
    """The calls about one question, one after another, and their cost."""

    def __init__(self, model: LanguageModel, row: Row) -> None:
        self.row, self.used = row, row.passages
        self._model = model
        self._posts: list[JsonValue] = []
        self._tokens, self._calls = Tokens(), 0

    async def write(self, name: str, passages: Sequence[Passage] = (), **variables: object) -> str:
        """The text that the model writes for prompt file `name`, with the question and `passages` before it."""
        reply: Reply[BaseModel] = await self._model.write(self._prompt(name, passages, variables))
        self._note(name, reply, reply.text)
        return reply.text

    async def fill(self, name: str, output: type[T], passages: Sequence[Passage], **variables: object) -> T:
        """The form `output` as the model fills it in. Raises ModelOutputError where it cannot."""
        reply = await self._model.write(self._prompt(name, passages, variables), output)
        assert reply.value is not None
        self._note(name, reply, reply.value.model_dump(mode="json"))
        return reply.value

    def outcome(self, answer: str = "", error: str | None = None) -> Outcome:
        """What came out, with the cost of every call."""
        return Outcome(
            answer=answer,
            passages=self.used,
            board=self._posts,
            calls=self._calls,
            steps=len(self._posts),
            tokens=self._tokens,
            error=error,
        )

    def _prompt(self, name: str, passages: Sequence[Passage], variables: dict[str, object]) -> Prompt:
        file = f"baselines/{name}"
        return Prompt(
            system=render("baselines/system"),
            shared=render("baselines/shared", question=self.row.question, passages=passages),
            task=render(file, **variables),
            hash=prompt_hash(file),
            agent=name,
        )

    def _note(self, name: str, reply: Reply[T], content: JsonValue) -> None:
        self._calls += reply.calls
        self._tokens += reply.tokens
        self._posts.append(
            {
                "role": name,
                "content": content,
                "model": reply.model,
                "prompt_hash": prompt_hash(f"baselines/{name}"),
                "tokens": reply.tokens.model_dump(mode="json"),
                "seconds": reply.seconds,
            }
        )


Method = Callable[[Talk], Awaitable[str]]


class Label(BaseModel):
    """A judgement of one passage."""

    number: int = Field(description="the passage's number")
    relevant: bool
    useful: bool


class Labels(BaseModel):
    """One judgement a passage."""

    labels: list[Label]


def written(name: str, method: Method) -> System[Kit]:
    """`method` as a system. What was spent before a model failed is counted with the failure."""

    async def system(row: Row, kit: Kit) -> Outcome:
        if kit.model is None:
            raise ConfigurationError(f"{name} writes with a language model: name one with --model (quote only quotes)")
        talk = Talk(kit.model, row)
        try:
            return talk.outcome(await method(talk))
        except ModelRefusedError:
            raise
        except ModelError as error:
            return talk.outcome(error=f"{type(error).__name__}: {error}")

    return system


async def no_retrieval(talk: Talk) -> str:
    """The model alone."""
    talk.used = ()
    return await talk.write("no_retrieval")


async def guideline(talk: Talk) -> str:
    """A tutor's guide that withholds the result, then a call that answers with it; no passages.

    The published baseline stops after the guide, which cannot hold the answer that it is scored by.
    """
    talk.used = ()
    return await talk.write("guided", guide=await talk.write("guide"))


async def vanilla_rag(talk: Talk) -> str:
    """The passages, then the question, in one call."""
    return await talk.write("vanilla_rag", talk.row.passages)


async def chain_of_thought(talk: Talk) -> str:
    """Steps from the passages to the answer, in one call (Wei et al. 2022, zero-shot)."""
    return await talk.write("chain_of_thought", talk.row.passages)


async def chain_of_note(talk: Talk) -> str:
    """A reading note on each passage, then the answer, in one call (Yu et al. 2023, arXiv 2311.09210)."""
    return await talk.write("chain_of_note", talk.row.passages)


async def self_rerank(talk: Talk) -> str:
    """The model labels the passages; those both useful and relevant are kept, and answered from in a second call.

    A passage without a label is not kept, and a label without a passage is ignored.
    """
    passages = talk.row.passages
    judged = await talk.fill("labels", Labels, passages, count=len(passages))
    kept = {label.number for label in judged.labels if label.relevant and label.useful}
    talk.used = tuple(passage for number, passage in enumerate(passages, 1) if number in kept)
    return await talk.write("kept", talk.used, kept=len(talk.used))


async def reference(talk: Talk) -> str:
    """PersonaRAG in its published order: twelve calls in a row, without live retrieval (section 3, recorded outputs).

    Five agents speak one after another, each reads the shared pool, and the pool is rewritten after each. Then a
    chain-of-thought draft without passages, and the cognitive agent, which reads draft and pool.
    """
    pool = ""
    for agent in REFERENCE_AGENTS:
        said = await talk.write(f"reference/{agent}", talk.row.passages, pool=pool)
        pool = await talk.write("reference/pool", pool=pool, said=said, agent=agent.replace("_", " "))
    draft = await talk.write("reference/draft")
    return await talk.write("reference/cognitive", draft=draft, pool=pool)


async def extractive(row: Row, kit: Kit) -> Outcome:
    """Vanilla RAG without a language model: the best sentences of the given passages, quoted in at most 40 words."""
    from personable.llm.quote import quote

    found = await asyncio.to_thread(quote, row.question, row.passages, similar=kit.evidence, language=kit.language)
    return Outcome(answer=" ".join(quoted.text for quoted in found.sentences), passages=row.passages)


METHODS: dict[str, Method] = {
    "no_retrieval": no_retrieval,
    "guideline": guideline,
    "vanilla_rag": vanilla_rag,
    "chain_of_thought": chain_of_thought,
    "chain_of_note": chain_of_note,
    "self_rerank": self_rerank,
    "reference": reference,
}

_WRITTEN: dict[str, System[Kit]] = {name: written(name, method) for name, method in METHODS.items()}


async def _rag(row: Row, kit: Kit) -> Outcome:
    return await (extractive if kit.model is None else _WRITTEN["vanilla_rag"])(row, kit)


BASELINES: dict[str, System[Kit]] = _WRITTEN | {"vanilla_rag": _rag}
"""By name. Without a language model only `vanilla_rag` answers, by quoting; the others raise ConfigurationError."""
