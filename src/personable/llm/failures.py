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
    match error:
        case raised.ModelTimeoutError():
            return ModelTimeoutError(f"model {name!r} at {where} did not answer in time")
        case raised.ModelConnectionError():
            return ModelError(
                f"cannot reach model {name!r} at {where} ({said}); is the server running, the address right?"
            )
        case raised.ModelContextWindowExceededError():
            return too_long(name, said)
        case raised.ModelRequestRejectedError() if _TOO_LONG.search(said):
            return too_long(name, said)
        case raised.ModelAuthenticationError():
            return ModelRefusedError(f"model {name!r} at {where} refused the key: {said}; check {key_from}")
        case raised.ModelNotFoundError():
            return ModelRefusedError(f"there is no model {name!r} at {where}: {said}; check its name and the address")
        case raised.ModelQuotaExceededError():
            return ModelRefusedError(f"the account for model {name!r} has no quota or credit left: {said}")
        case raised.ModelRateLimitError():
            return ModelError(
                f"model {name!r} takes no more requests for now: {said}; try later or lower the concurrency"
            )
        case raised.ContentFilterError():
            return ModelRefusedError(f"the provider's content filter blocked the answer of model {name!r}: {said}")
        case raised.ModelRequestRejectedError():
            return ModelRefusedError(f"model {name!r} at {where} refused the request: {said}")
        case raised.UnexpectedModelBehavior():
            return ModelOutputError(f"{where} did not answer model {name!r}'s request as such a server does: {said}")
    return ModelError(f"model {name!r} at {where} failed: {said}")


def too_long(name: str, said: str) -> ModelRefusedError:
    """The error for a prompt that does not fit."""
    return ModelRefusedError(
        f"the prompt is too long for model {name!r}: {said}; give it fewer or shorter passages, "
        "a lower max_tokens, or a model with a larger context"
    )


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
