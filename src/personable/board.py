"""The board: an append-only log of typed posts about one question; it is the agents' memory, the stream and the trace.

Posts carry the fields of ARAG's blackboard (arXiv 2506.21931, section 3), `id, role, content, score, timestamp`, and
what a model call cost. Text on its way to a reader is a transient event beside the posts and is never stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import AwareDatetime, Field, ValidationError, field_validator

from personable.errors import DataError
from personable.notes import AnyNote, Note
from personable.types import Tokens, Value

N = TypeVar("N", bound=Note)


class Cost(Value):
    """What one model call cost; `prompt_hash` names the version of the prompt file. `model` is the one that answered;
    `elsewhere` names those that may have been sent the prompt, did not run on this machine and were not trusted,
    `answered` those of them that certainly read it, as they answered."""

    model: str = ""
    elsewhere: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    prompt_hash: str = ""
    tokens: Tokens = Tokens()
    calls: int = 0
    seconds: float = 0.0
    dollars: float | None = None

    @field_validator("elsewhere", mode="before")
    @classmethod
    def _without_names(cls, value: Any) -> Any:
        return () if isinstance(value, bool) else value  # boards of earlier versions say only whether, not which


class Post(Value):
    """One note on the board: who wrote it (`role`), what (`content`), how sure (`score`), when, at what cost."""

    id: int
    role: str
    content: AnyNote
    score: float | None = None
    timestamp: AwareDatetime
    cost: Cost = Cost()

    @property
    def kind(self) -> str:
        return self.content.kind


class Text(Value):
    """A checked piece of an answer's text on its way to a reader; never a post."""

    text: str


class Stored(Value):
    """The stored form of a board."""

    id: str
    posts: list[Post] = Field(default_factory=list)


class Subscription:
    """Posts and text of a board in order, from its first post on, until the board is closed."""

    def __init__(self, past: list[Post], closed: bool) -> None:
        self._queue: asyncio.Queue[Post | Text | None] = asyncio.Queue()
        for post in past:
            self.put(post)
        if closed:
            self.put(None)

    def put(self, event: Post | Text | None) -> None:
        self._queue.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Post | Text]:
        while (event := await self._queue.get()) is not None:
            yield event


class Board:
    """Append-only: posts are added, read and subscribed to, never changed or removed."""

    def __init__(self, id: str | None = None, posts: list[Post] | None = None) -> None:
        self.id = id or uuid4().hex
        self._posts = list(posts or [])
        self._subscribers: list[Subscription] = []
        self._closed = False

    def post(self, role: str, note: Note, *, score: float | None = None, cost: Cost | None = None) -> Post:
        """Append a note; subscribers see it at once."""
        fields = {"id": len(self._posts) + 1, "role": role, "content": note, "score": score}
        post = Post.model_validate(fields | {"timestamp": datetime.now(UTC), "cost": cost or Cost()})
        self._posts.append(post)
        self._tell(post)
        return post

    def say(self, text: str) -> None:
        """Pass a checked piece of text on to subscribers; it is not stored."""
        self._tell(Text(text=text))

    def latest(self, kind: type[N]) -> N | None:
        """The newest note of a type, or None."""
        return next((p.content for p in reversed(self._posts) if isinstance(p.content, kind)), None)

    def notes(self, kind: type[N]) -> list[N]:
        """Every note of a type, in order."""
        return [p.content for p in self._posts if isinstance(p.content, kind)]

    def all(self, kind: type[N] | None = None) -> list[Post]:
        """Posts in order, of one note type or of every type."""
        return [p for p in self._posts if kind is None or isinstance(p.content, kind)]

    def subscribe(self) -> Subscription:
        """Everything from the first post on, also what was posted before this call."""
        subscription = Subscription(self._posts, self._closed)
        self._subscribers.append(subscription)
        return subscription

    def close(self) -> None:
        """No more posts will come: subscriptions end."""
        self._closed = True
        for subscriber in self._subscribers:
            subscriber.put(None)

    @property
    def tokens(self) -> Tokens:
        """Tokens of all model calls on this board."""
        return sum((p.cost.tokens for p in self._posts), Tokens())

    @property
    def calls(self) -> int:
        """Model requests on this board, repairs and retries included."""
        return sum(p.cost.calls for p in self._posts)

    def to_json(self) -> str:
        """The whole board; `Board.from_json` gives it back without loss."""
        return Stored(id=self.id, posts=self._posts).model_dump_json()

    @classmethod
    def from_json(cls, data: str | bytes, name: str = "the board") -> Board:
        """A stored board. Raises DataError, which calls it `name`, where `data` is none that this version can read."""
        try:
            stored = Stored.model_validate_json(data)
        except ValidationError as error:
            raise DataError(f"{name} was stored by another version and cannot be read; ask again") from error
        return cls(stored.id, stored.posts)

    def _tell(self, event: Post | Text) -> None:
        for subscriber in self._subscribers:
            subscriber.put(event)
