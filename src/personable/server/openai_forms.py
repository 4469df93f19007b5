"""The forms of the OpenAI chat interface: requests as far as they count here, completions, chunks and errors."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from personable.people.statements import without_marks
from personable.types import PastTurn, Tokens

OPENAI_PATHS = ("/v1/chat/", "/v1/models")
MESSAGES = 1000
TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


class Part(BaseModel):
    """A part of a message's content; only parts of the type "text" can be read."""

    type: str = Field(max_length=50)
    text: str = ""


class Message(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @field_validator("content", mode="after")
    @classmethod
    def _unicode(cls, content: str | list[Part] | None) -> str | list[Part] | None:
        # Pydantic lets half a surrogate pair through where a text is one of several types.
        parts = [content] if isinstance(content, str) else [part.text for part in content or ()]
        try:
            "".join(parts).encode()
        except UnicodeEncodeError as error:
            raise ValueError("the text holds half a surrogate pair; remove it") from error
        return content

    @property
    def text(self) -> str:
        """All its text."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    include_usage: bool = False


class Format(BaseModel):
    type: str = Field(max_length=50)


class ChatBody(BaseModel):
    """A chat request. Parameters that are not named here are not looked at; those that ask for another kind of answer
    than text are refused (`unmet`)."""

    model: str = Field(max_length=200, examples=["answer/notes"])
    messages: list[Message] = Field(min_length=1, max_length=MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = Field(None, max_length=200, description="The person; only for keys that may speak for anybody.")
    store: bool | None = Field(None, description="False: keep neither the answer nor its board.")
    n: int | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    audio: Any = None
    modalities: list[str] | None = None
    response_format: Format | None = None
    logprobs: bool | None = None

    def unmet(self) -> tuple[str, str] | None:
        """What is asked for and cannot be given: the parameter and why; None where all can be."""
        if self.n not in (None, 1):
            return "n", "one answer is given: leave n out, or set it to 1"
        for name in ("tools", "functions", "audio", "logprobs"):
            if getattr(self, name):
                return name, f"{name} cannot be had here: leave it out"
        if set(self.modalities or ["text"]) != {"text"}:
            return "modalities", "answers are text alone"
        if self.response_format is not None and self.response_format.type != "text":
            return "response_format", "answers are text, not JSON; their citations stand in the field `personable`"
        for number, message in enumerate(self.messages):
            if any(part.type != "text" for part in message.content or () if isinstance(part, Part)):
                return f"messages.{number}.content", "only text can be read, no images, sound or files"
        return None

    def said(self) -> tuple[str, list[PastTurn]]:
        """The last utterance of the user, "" where there is none, and the turns before it, oldest first.

        What the system, the developer or a tool says is no part of either: it is never followed.
        """
        spoken = [one for one in self.messages if one.role in ("user", "assistant")]
        while spoken and spoken[-1].role != "user":
            spoken.pop()
        if not spoken:
            return "", []
        turns: list[PastTurn] = []
        for one in spoken[:-1]:
            text = without_marks(one.text)
            if one.role == "user":
                turns.append(PastTurn(utterance=text))
            elif turns:  # a greeting before anything was said answers nothing
                reply = "\n".join(filter(None, [turns[-1].response, text]))
                turns[-1] = turns[-1].model_copy(update={"response": reply})
        return spoken[-1].text, turns


class Cached(BaseModel):
    cached_tokens: int = 0


class Usage(BaseModel):
    """Tokens of the models that were asked; none where the answer was quoted."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: Cached

    @classmethod
    def of(cls, tokens: Tokens) -> Usage:
        return cls(
            prompt_tokens=tokens.prompt,
            completion_tokens=tokens.completion,
            total_tokens=tokens.prompt + tokens.completion,
            prompt_tokens_details=Cached(cached_tokens=tokens.cached),
        )


class Said(BaseModel):
    """A reply. `personable` holds what the interface has no place for: citations, statements used, what went wrong."""

    role: Literal["assistant"] = "assistant"
    content: str
    personable: dict[str, Any]


class Choice(BaseModel):
    index: int = 0
    message: Said
    finish_reason: Literal["stop"] = "stop"


class Completion(BaseModel):
    """A whole reply; with `stream` it comes as chunks instead."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


class ModelCard(BaseModel):
    """A pipeline over a collection."""

    id: str = Field(examples=["answer/notes"])
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "personable"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]


class ErrorBody(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIError(BaseModel):
    """How this interface tells what went wrong."""

    error: ErrorBody


def openai_error(status: int, detail: str, where: str = "") -> tuple[int, dict[str, Any]]:
    """A problem in this interface's form: its status here, and the body. `where` is the part of the request."""
    param = where.removeprefix("body.").removeprefix("path.") or None
    usual = "server_error" if status >= 500 else "invalid_request_error"
    code = "model_not_found" if (status, param) == (404, "model") else CODES.get(status)
    error = ErrorBody(message=detail, type=TYPES.get(status, usual), param=param, code=code)
    return (400 if status == 422 else status), OpenAIError(error=error).model_dump()
