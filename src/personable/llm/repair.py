"""From what a model wrote to a typed value: pure functions that mend the usual faults and never invent a value.

Text that is valid JSON and fits is taken as it is. Otherwise the text is searched for JSON (in prose, in a code fence,
several objects, cut off half way, single quotes, trailing commas), and values of a near type are made to fit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from personable.errors import ModelOutputError
from personable.llm.fitting import fit, problems

T = TypeVar("T", bound=BaseModel)

_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_BRACKET = re.compile(r"[{\[\]}]")

MAX_TEXT = 50_000
MAX_DEPTH = 60
MAX_STARTS = 200
"""Bounds of the search, so that no text takes long: characters, nested brackets, places where JSON may begin."""


class Mended(NamedTuple):
    """A value read from text; `changed` is False when the text was valid JSON that fitted as it stood."""

    value: Any
    changed: bool


def read(text: str, output: type[T]) -> tuple[T, bool]:
    """The first `output` that `text` holds, and whether the text had to be mended.

    Raises ModelOutputError that says what is wrong with the best candidate, in words fit to show to the model.
    """
    wrong = "there is no JSON object in it"
    for candidate, changed in candidates(text):
        try:
            return output.model_validate(candidate), changed
        except ValidationError as error:
            fitted = fit(candidate, output)
            if fitted is not None:
                return fitted, True
            if wrong.startswith("there is no") and isinstance(candidate, dict | list):
                wrong = problems(error)
    raise ModelOutputError(wrong)


def candidates(text: str) -> Iterator[Mended]:
    """Every JSON value that `text` may mean, the most literal reading first."""
    text = text[:MAX_TEXT].strip().lstrip("\ufeff")
    whole = _load(text)
    if whole is not None:
        yield Mended(whole, False)
        return
    if _depth(text) > MAX_DEPTH:
        return
    pieces = [match.group(1).strip() for match in _FENCE.finditer(text)] + [text]
    for piece in pieces:
        for value in _values(piece):
            yield Mended(value, True)
    for piece in pieces:
        start = min((at for at in (piece.find("{"), piece.find("[")) if at >= 0), default=-1)
        if start >= 0 and (value := _mend(piece[start:])) not in ("", [], {}):
            yield Mended(value, True)


def _load(text: str) -> Any:
    """`text` as one JSON object or array, None when it is not."""
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return clean(value) if isinstance(value, dict | list) else None


def _values(text: str) -> Iterator[Any]:
    """The valid JSON objects and arrays that stand in `text`, one after another."""
    decoder, end = json.JSONDecoder(parse_constant=_no_number), 0
    for match in islice(_OPENING.finditer(text), MAX_STARTS):
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if value:
            yield clean(value)


def _depth(text: str) -> int:
    """How deep the brackets of `text` are nested, those inside strings counted too."""
    steps = (1 if match.group() in "{[" else -1 for match in _BRACKET.finditer(text))
    return max(accumulate(steps), default=0)


def _mend(text: str) -> Any:
    """`text` read by the json-repair library, None where that gives up."""
    from json_repair import loads

    try:
        return clean(loads(text, skip_json_loads=True))
    except (ValueError, RecursionError):
        return None


def _no_number(_: str) -> None:
    """NaN and Infinity are no JSON: nothing is known."""


def clean(value: Any) -> Any:
    """`value` with halves of surrogate pairs joined where they meet, and replaced by U+FFFD where they stand alone."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [clean(part) for part in value]
    if isinstance(value, dict):
        return {clean(name): clean(part) for name, part in value.items()}
    if isinstance(value, float) and value != value:
        return None
    return value
