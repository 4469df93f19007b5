"""The notes of `certify`; `notes` has them all."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from personable.item_notes import Note
from personable.types import Certification


class PragmaticsNote(Note):
    """The pragmatic context of a question: what it takes for granted, what it lets one understand, and whether it asks
    for a judgement ("is it normal that …")."""

    kind: Literal["pragmatics"] = "pragmatics"
    presupposes: list[str] = Field(
        default_factory=list, description="up to three things that the question takes as true"
    )
    implies: list[str] = Field(
        default_factory=list, description="up to three things that the asker seems to want or fear"
    )
    evaluative: bool = Field(False, description="true if the question asks for a judgement of the asker's own case")


class HydocNote(Note):
    """A hypothetical document: what a text that answers might say. It is a query and nothing else; it may be wrong."""

    kind: Literal["hydoc"] = "hydoc"
    text: str = Field("", description="a short passage, as an information leaflet would answer the question")


class CertifiedNote(Note):
    """Whose certified text went out, and what stood before it."""

    kind: Literal["certified"] = "certified"
    certification: Certification
