"""What a model may ask a person, or propose that they ask next."""

from __future__ import annotations

import re

from personable.text import words

LONGEST = 200
"""Characters of a question; what a model writes beyond is no one short question."""
# One sentence that ends as a question, leads nowhere, and is after no secret.
_ASKS = re.compile(
    r"(?!.*(?:://|www\.|\b(?:card|pin|password|passcode|cvv|iban|codice|carta)\b))[^.!?？؟]+[?？؟]", re.IGNORECASE
)


def one_question(text: str) -> str:
    """`text` on one line where it is one short question without a link, a secret or a control character, else ""."""
    asked = " ".join(text.split())
    fits = asked.isprintable() and len(asked) <= LONGEST and words(asked)
    return asked if fits and _ASKS.fullmatch(asked) else ""
