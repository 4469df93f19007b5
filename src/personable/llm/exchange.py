"""A prompt as pydantic-ai's request, and its response as a raw reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from personable.llm.base import Prompt, Reply
from personable.llm.form import form
from personable.llm.settling import Raw
from personable.text import tokens
from personable.types import Tokens

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import ModelRequestParameters

Form = Literal["schema", "object", "text"]
"""What a request asks for: JSON by a schema, some JSON object, text."""


def messages(prompt: Prompt, output: type[BaseModel] | None, *, cached: bool) -> list[ModelMessage]:
    """System, then shared part and task: what calls about one question have in common stands first, byte for byte.

    `output` is described at the end of the task, None where the provider shows its schema. `cached` marks the end of
    the shared part for providers that want to be told what to cache.
    """
    from pydantic_ai.messages import CachePoint, ModelRequest, SystemPromptPart, UserPromptPart

    task = f"{prompt.task}\n\n{form(output)}" if output else prompt.task
    content: Any = f"{prompt.shared}\n\n{task}" if prompt.shared else task
    if cached and prompt.shared:
        content = [f"{prompt.shared}\n\n", CachePoint(), task]
    system = [SystemPromptPart(prompt.system)] if prompt.system else []
    return [ModelRequest(parts=[*system, UserPromptPart(content)])]


def parameters(output: type[BaseModel] | None, ask_for: Form) -> ModelRequestParameters:
    """Ask for JSON by the schema of `output`, for any JSON object where the provider can hold to that, or for text."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if output is None or ask_for == "text":
        return ModelRequestParameters()
    wanted = OutputObjectDefinition(json_schema=output.model_json_schema(), name=output.__name__)
    if ask_for == "object":
        return ModelRequestParameters(
            output_mode="prompted", output_object=wanted, prompted_output_template=False, allow_text_output=False
        )
    return ModelRequestParameters(output_mode="native", output_object=wanted, allow_text_output=False)


def piece(event: ModelResponseStreamEvent) -> str:
    """The text that an event of a stream brings, "" for any other event."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def ended(response: ModelResponse) -> ModelResponse:
    """The response of a stream that came to its end.

    A connection that is lost in the middle can look like an end. Raises pydantic-ai's ModelConnectionError when the
    provider sent neither a finish reason nor a count of tokens.
    """
    from pydantic_ai.exceptions import ModelConnectionError

    if "finish_reason" not in (response.provider_details or {}) and not response.usage.output_tokens:
        raise ModelConnectionError(response.model_name or "", "the stream broke off before its end")
    return response


def reply(response: ModelResponse, name: str, price: float | None) -> Raw:
    """The response as a reply; `price` in US dollars."""
    cut = "length" if response.finish_reason == "length" else ""
    return Reply[BaseModel](text=response.text or "", model=name, tokens=used(response), cost=price, cut=cut)


def used(response: ModelResponse) -> Tokens:
    """The provider's own count."""
    usage = response.usage
    return Tokens(prompt=usage.input_tokens, cached=usage.cache_read_tokens, completion=usage.output_tokens)


def estimated(text: str, prompt: Prompt, name: str) -> Raw:
    """The reply to a stream that was stopped before the provider counted: tokens are estimates."""
    asked = tokens(prompt.system + prompt.shared + prompt.task)
    return Reply[BaseModel](text=text, model=name, tokens=Tokens(prompt=asked, completion=tokens(text)))


def cost(response: ModelResponse) -> float | None:
    """US dollars by genai-prices, None where model or usage is not known."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
