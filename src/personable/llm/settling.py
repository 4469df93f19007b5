"""From raw answers to a settled reply: typed output with a second request, repetition cut off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from pydantic import BaseModel

from personable.errors import ModelError, ModelOutputError
from personable.llm.base import Prompt, Reply, also, charged
from personable.llm.repair import clean, read
from personable.llm.repetition import repetition

T = TypeVar("T", bound=BaseModel)
Raw = Reply[BaseModel]
Ask = Callable[[Prompt], Awaitable[Raw]]

SHOWN = 1200
"""Characters of a bad answer that the second request and an error show."""


async def settle(ask: Ask, prompt: Prompt, output: type[T] | None) -> Reply[T]:
    """Ask, and make the answer fit: `ask` gives raw replies without a value.

    Raises ModelOutputError for an answer without text, or one that is not an `output` after the second request.
    """
    first = trimmed(await ask(prompt))
    if output is None:
        return cast(Reply[T], worded(first))
    try:
        value, mended = read(first.text, output)
        return _typed(first, value, mended)
    except ModelOutputError as error:
        wrong = str(error)
    try:
        second = trimmed(await ask(again(prompt, first.text, wrong)))
    except ModelError as error:
        charged(error, first)
        raise
    both = also(second, first).model_copy(update={"seconds": first.seconds + second.seconds})
    try:
        value, _ = read(second.text, output)
    except ModelOutputError as error:
        raise _failed(both, f"not the {output.__name__} asked for, twice: {error}") from error
    return _typed(both, value, True)


def worded(reply: Raw) -> Raw:
    """The reply itself. Raises ModelOutputError when it has no text."""
    if not reply.text.strip():
        raise _failed(reply, "it wrote nothing (max_tokens may be too low for a model that thinks first)")
    return reply


def again(prompt: Prompt, answer: str, wrong: str) -> Prompt:
    """The second request: the same beginning, then the task once more with the answer that was wrong and why."""
    shown = answer.strip()[:SHOWN] or "(nothing)"
    more = "\n[…]" if len(answer.strip()) > SHOWN else ""
    task = (
        f"{prompt.task}\n\nYou were asked this before and your answer could not be used: {wrong}.\n"
        f"The unusable answer was:\n<answer>\n{shown}{more}\n</answer>\n"
        "Answer again: only one complete JSON object in the form asked for, nothing before or after it, and short."
    )
    return prompt.model_copy(update={"task": task})


def trimmed(reply: Raw) -> Raw:
    """The reply with lone surrogates replaced and a repetition at its end cut off."""
    text = cast(str, clean(reply.text))
    at = repetition(text)
    if at is None:
        return reply if text == reply.text else reply.model_copy(update={"text": text})
    return reply.model_copy(update={"text": text[:at].rstrip(), "cut": "repetition"})


def _typed(reply: Raw, value: T, repaired: bool) -> Reply[T]:
    return cast(Reply[T], reply.model_copy(update={"value": value, "repaired": repaired}))


def _failed(reply: Raw, why: str) -> ModelOutputError:
    text = reply.text.strip()
    shown = f" It wrote: {text[:200]!r}{'…' if len(text) > 200 else ''}" if text else ""
    return charged(ModelOutputError(f"model {reply.model!r} gave no usable answer: {why}.{shown}"), reply)
