"""Replies from pydantic-ai's responses: prices where they are known."""

from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from personable.llm.exchange import cost


def response(model: str, provider: str) -> ModelResponse:
    usage = RequestUsage(input_tokens=1_000_000, output_tokens=0)
    return ModelResponse(parts=[TextPart("x")], usage=usage, model_name=model, provider_name=provider)


def test_the_price_of_a_known_model_is_its_list_price():
    assert cost(response("gpt-4o-mini", "openai")) == 0.15


def test_an_unknown_model_has_no_price():
    assert cost(response("no-such-model", "nobody")) is None
