"""What pydantic-ai raised, said in our errors: what went wrong, with which model, and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from personable.errors import ModelError, ModelOutputError, ModelRefusedError, ModelTimeoutError

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError

_TOO_LONG = re.compile(r"context.{0,20}(length|size|window)|exceed_context|too many tokens|prompt is too long", re.I)

_NO_SCHEMA = re.compile(r"response_format|json_schema|structured output|grammar", re.I)


def is_transient(error: BaseException) -> bool:
    """True when the same request may succeed later: 408, 409, 425, 429, 5xx, overload, a lost connection."""
    from pydantic_ai import exceptions as raised

    if isinstance(error, raised.ModelHTTPError) and error.status_code in (408, 409, 425):
        return True
    passing = (
        raised.ModelRateLimitError,
        raised.ModelUnavailableError,
        raised.ModelServerError,
        raised.ModelConnectionError,
    )
    return isinstance(error, passing)


def explained(error: Exception, name: str, where: str, key_from: str) -> ModelError:
    """The ModelError for `error` of the model `name` at the address `where`; `key_from` names the key's variable."""
    from pydantic_ai import exceptions as raised

    said = _said(error)
    if isinstance(error, raised.ModelContextWindowExceededError) or (
        isinstance(error, raised.ModelRequestRejectedError) and _TOO_LONG.search(said)
    ):
        return too_long(name, said)
    model = f"model {name!r}"
    known: list[tuple[type[Exception], type[ModelError], str]] = [
        (raised.ModelTimeoutError, ModelTimeoutError, f"{model} at {where} did not answer in time"),
        (raised.ModelConnectionError, ModelError, f"no connection to {model} at {where}: {said}; does it run there?"),
        (raised.ModelAuthenticationError, ModelRefusedError, f"{where} refused the key: {said}; check {key_from}"),
        (raised.ModelNotFoundError, ModelRefusedError, f"{where} has no {model}: {said}; check name and address"),
        (raised.ModelQuotaExceededError, ModelRefusedError, f"no quota or credit is left for {model}: {said}"),
        (raised.ModelRateLimitError, ModelError, f"{model} takes no more requests now: {said}; try again later"),
        (raised.ModelRequestRejectedError, ModelRefusedError, f"{model} at {where} refused the request: {said}"),
        (raised.ContentFilterError, ModelRefusedError, f"the content filter of {model} blocked the answer: {said}"),
        (raised.UnexpectedModelBehavior, ModelOutputError, f"{where} did not answer as a model server does: {said}"),
    ]
    for kind, ours, sentence in known:
        if isinstance(error, kind):
            return ours(sentence)
    return ModelError(f"{model} at {where} failed: {said}")


def too_long(name: str, said: str) -> ModelRefusedError:
    """The error for a prompt that does not fit."""
    return ModelRefusedError(
        f"the prompt is too long for model {name!r}: {said}; give it fewer or shorter passages, "
        "a lower max_tokens, or a model with a larger context"
    )


def connected(error: BaseException | None) -> bool:
    """False where there was no connection to send the request by, so that nobody read it."""
    from httpx2 import ConnectError, ConnectTimeout, PoolTimeout

    while error is not None:
        if isinstance(error, (ConnectError, ConnectTimeout, PoolTimeout)):
            return False
        error = error.__cause__
    return True


def refuses_schema(error: ModelAPIError) -> bool:
    """True when a server refused a request because it does not know JSON schemas (and not for its content)."""
    return bool(_NO_SCHEMA.search(_said(error)))


def hidden(error: ModelError, key: str | None) -> ModelError:
    """`error` without the key, which some servers repeat in what they say."""
    if key and len(key) > 4 and key in str(error):
        error.args = (str(error).replace(key, "…"),)
    return error


def _said(error: Exception) -> str:
    """The provider's own words, short."""
    from pydantic_ai.exceptions import ModelHTTPError

    body = getattr(error, "body", None)
    status = f"{error.status_code} " if isinstance(error, ModelHTTPError) else ""
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    cause = error.__cause__
    words = str(body or (cause if cause is not None and str(cause) else error)).strip().replace("\n", " ")
    return f"{status}{words[:300]}".strip() or type(error).__name__


def waited_for(error: BaseException | None) -> float | None:
    """Seconds that the provider asked to wait, None when it did not say."""
    after: float | None = getattr(error, "retry_after", None)
    return after
