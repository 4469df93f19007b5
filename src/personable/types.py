"""The values that cross seams: a question goes in, passages are found, an answer with citations comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Scalar = str | int | float | bool
Where = Mapping[str, Scalar | list[Scalar]]
"""A metadata filter: every key must match; a list means any of its values."""

Dial = Literal["off", "auto", "on"]
"""How much the person counts: never, where the gate finds that it helps, or always."""

Encodable = Annotated[str, Field(min_length=0)]
"""A text without halves of surrogate pairs, which pydantic refuses only where it looks at the length."""


class Value(BaseModel):
    """A frozen value: compared by content; unknown fields and NaN are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Question(Value):
    """What somebody asks: `text` is never empty; `person` and `session` are ids, None for a stranger."""

    text: str = Field(min_length=1)
    person: str | None = None
    session: str | None = None
    dial: Dial = "auto"


class PastTurn(Value):
    """An earlier turn of a conversation: what the person said and what was replied."""

    utterance: Encodable
    response: Encodable = ""


class Passage(Value):
    """A citable piece of a document.

    `start` and `end` are character offsets into the document's extracted text (a document that is a part of a long
    file: into the file's); `source` is where the document came from (a path or an address); `document` identifies it
    within its collection.
    """

    id: str = Field(min_length=1)
    text: str
    title: str = ""
    source: str = ""
    document: str = ""
    start: int = 0
    end: int = 0
    meta: dict[str, Scalar] = Field(default_factory=dict)


class Hit(Value):
    """A passage found for a query; higher `score` is better. `features` holds named evidence (`sparse`, `dense`)."""

    passage: Passage
    score: float
    features: dict[str, float] = Field(default_factory=dict)


class Tokens(Value):
    """Tokens of model calls; `cached` is the part of `prompt` that a prefix cache had already read."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
        )


class Citation(Value):
    """`[number]` in an answer's text points here. `start` and `end` are offsets into the source document's text."""

    number: int = Field(ge=1)
    passage_id: str
    source: str = ""
    title: str = ""
    start: int = 0
    end: int = 0
    quote: str = ""


class Used(Value):
    """A statement of the person that shaped an answer, with how much it mattered (0 to 1)."""

    statement: str
    text: str
    score: float = 0.0


class Answer(Value):
    """A checked answer: every `[n]` in `text` is the number of one of `citations`.

    `found` is False when the collection holds no answer; `text` then says so. `degraded` lists, in words, what did
    not work as asked (a model that failed, a budget that ran out). `strength` is the gate's: 0 the person was left
    out, 1 the person is essential. `ask` is a question back to the person, empty if none or where nobody is known.
    """

    id: str
    question: str
    text: str
    found: bool = True
    citations: list[Citation] = Field(default_factory=list)
    person: str | None = None
    used: list[Used] = Field(default_factory=list)
    strength: float = 0.0
    ask: str = ""
    suggestions: list[str] = Field(default_factory=list)
    degraded: list[str] = Field(default_factory=list)
    model: str = ""
    tokens: Tokens = Tokens()
    calls: int = 0
    seconds: float = 0.0


class Certificate(Value):
    """Where certified text comes from: who approved which version of a document when. `sha256` (hex) is of its bytes,
    checked when it was served."""

    number: int = Field(ge=1)
    document: str
    title: str
    publisher: str
    url: str
    version: str
    approver: str
    approved: str
    sha256: str


class Certification(Value):
    """What stands before certified text, and its sources, best first: an approved `emergency` text, and one `framing`
    sentence from a template. `verbatim` says that the text is quoted in a row, `evaluative` that a judgement was asked
    for."""

    method: str
    emergency: str = ""
    framing: str = ""
    evaluative: bool = False
    verbatim: bool = False
    sources: list[Certificate] = Field(default_factory=list)


class CertifiedAnswer(Value):
    """An answer out of certified text: `answer.text` is all of it, the emergency text and the framing included."""

    answer: Answer
    certification: Certification


class Item(Value):
    """A thing that can be recommended. `price` is in the catalogue's own currency, None where it is not known.

    `category` is its most special one, `categories` are all the names it can be found by, `category` among them or not.
    """

    id: str = Field(min_length=1)
    title: str
    description: str = ""
    category: str = ""
    categories: tuple[str, ...] = ()
    brand: str = ""
    price: float | None = Field(None, ge=0)
    in_stock: bool = True
    attributes: dict[str, Scalar] = Field(default_factory=dict)
    reviews: tuple[str, ...] = ()


class Wish(Value):
    """A request for recommendations: `k` items for `person` (None: nobody in particular) in their `session`, about
    `query` ("" for anything). `again` allows items that the person turned to before."""

    person: str | None = None
    session: Encodable | None = None
    query: Encodable = ""
    k: int = Field(5, ge=1)
    again: bool = False
    dial: Dial = "auto"


class Reason(Value):
    """Why an item is shown, in words about the person alone. `post` is the note on the board that it stands on; `event`
    or `statement` the id of what the person did or said, None where nothing is known of them."""

    text: str
    post: int
    event: str | None = None
    statement: str | None = None


class Recommended(Value):
    """One recommended item; `score` is the fused one and means nothing across requests."""

    place: int = Field(ge=1)
    item: str
    title: str
    price: float | None = None
    score: float
    reasons: list[Reason] = Field(default_factory=list)


class Recommendations(Value):
    """Recommended items, best first. `cold` says that nothing was known that the catalogue could be compared with.
    `degraded` lists in words what did not work as asked."""

    id: str
    person: str | None = None
    items: list[Recommended]
    cold: bool = False
    degraded: list[str] = Field(default_factory=list)
    model: str = ""
    tokens: Tokens = Tokens()
    calls: int = 0
    seconds: float = 0.0
