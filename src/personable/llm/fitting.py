"""Making a value of nearly the right shape fit a model: what is there is kept, what is not there is never invented."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

T = TypeVar("T", bound=BaseModel)

ROUNDS = 6


def fit(value: Any, output: type[T]) -> T | None:
    """`value` as an `output` after the mends below, None when it cannot be."""
    for shape in _shapes(value, output):
        if not (isinstance(shape, dict) and _says_something(shape, output)):
            continue
        shape = _copy(shape)
        for _ in range(ROUNDS):
            try:
                return output.model_validate(shape)
            except ValidationError as error:
                changed = [_mend(shape, one) for one in reversed(error.errors(include_url=False))]
                if not any(changed):
                    break
    return None


def problems(error: ValidationError, limit: int = 5) -> str:
    """What is wrong, field by field, in one line."""
    found = error.errors(include_url=False, include_context=False)
    listed = [f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg'].lower()}" for one in found[:limit]]
    more = f" and {len(found) - limit} more" if len(found) > limit else ""
    return "; ".join(listed) + more


def _shapes(value: Any, output: type[BaseModel]) -> list[Any]:
    """The object itself, the objects in an array, the object in a wrapper, an array for a model of one list."""
    if isinstance(value, list):
        only = list(output.model_fields)
        return [*value, {only[0]: value}] if len(only) == 1 else list(value)
    if not isinstance(value, dict):
        return []
    names = {_plain(name): name for name in output.model_fields}
    renamed = {names.get(_plain(key), key): part for key, part in value.items()}
    inner = [part for part in value.values() if isinstance(part, dict)] if len(value) == 1 else []
    return [renamed, *inner]


def _says_something(shape: dict[str, Any], output: type[BaseModel]) -> bool:
    """True when a field is given that does not merely repeat its default: else any object fits a model of defaults."""
    fields = output.model_fields
    return any(name in fields and fields[name].default != part for name, part in shape.items())


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(part) for name, part in value.items()}
    return [_copy(part) for part in value] if isinstance(value, list) else value


def _mend(root: Any, error: ErrorDetails) -> bool:
    """Change what `error` is about, in place. True when something changed."""
    *path, last = error["loc"] or (None,)
    try:
        for step in path:
            root = root[step]
        given = root[last]
    except (KeyError, IndexError, TypeError):  # a missing field, or a place inside a union
        return False
    if error["type"] == "extra_forbidden" or (given is None and isinstance(root, dict)):
        del root[last]
        return True
    mended = _near(given, error)
    if mended is None or (type(mended) is type(given) and mended == given):
        return False
    root[last] = mended
    return True


def _near(given: Any, error: ErrorDetails) -> Any:
    """The same content in the type that `error` asks for, None when there is no safe way."""
    context = error.get("ctx", {})
    match error["type"]:
        case "string_type" if isinstance(given, bool | int | float):
            return str(given)
        case "string_type" if isinstance(given, list) and all(isinstance(part, str) for part in given):
            return "; ".join(given)
        case "list_type" if isinstance(given, str | int | float | dict):
            return [given]
        case "too_long" if isinstance(given, list):
            return given[: context["max_length"]]
        case "string_too_long":
            return given[: context["max_length"]]
        case "literal_error" | "enum" if isinstance(given, str):
            allowed = re.findall(r"'([^']*)'", str(context["expected"]))
            same = [one for one in allowed if _plain(one) == _plain(given)]
            return same[0] if len(same) == 1 else None
    return None
