"""What somebody says of themselves, in English or Italian, told from what they ask, order, suppose or quote."""

from __future__ import annotations

import re

from personable.text import sentences

_STATES = (
    r"(?:i am|i['’]m|i was (?:diagnosed|born|raised)|i have(?! to\b)|i['’]ve|i live|i work|i study|i take|i eat|"
    r"i drink|i like|i love|i hate|i dislike|i enjoy|i avoid|i prefer|"
    r"i (?:need|want)(?! (?:to know|to ask|some help|help)\b)|"
    r"i(?:['’]d| would) like(?! to (?:know|ask|see|hear))|i can(?:not|['’]t)|"
    r"i do(?:n['’]t| not)(?! (?:know|think|mean)\b)|i never|i always|i use|i own|i play|i speak|i suffer|i moved|"
    r"i come from|i grew up|we have(?! to\b)|we live|we are|we['’]re|as an? [\w-]+,? i|"
    r"my (?:[\w'’-]+ ){1,4}?(?:is|are|has|have|was|were))\b"
)
# Italian verbs may be of several persons; at the beginning of a sentence they are nearly always of the first.
_DICE = (
    r"(?:(?:io|ma|e|anche|purtroppo|non|mi|da (?:\w+ ){1,3}?)\s*)*"
    r"(?:sono|ho|vivo|abito|lavoro|studio|prendo|mangio|bevo|piace|piacciono|preferisco|odio|amo|soffro|chiamo)\b"
    r"|(?:il|la|i|le)?\s*(?:mio|mia|miei|mie) \w+ (?:è|ha|sono|hanno)\b"
)
_ENGLISH = re.compile(rf"\b{_STATES}", re.I)
_ITALIAN = re.compile(rf"^\W*(?:{_DICE})", re.I)
_CLAUSE = re.compile(rf"(?:(?:hi|hello|well|since|because|as|given that)\s+)?({_STATES}.+)", re.I | re.S)
_QUOTED = re.compile(r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’\n]*’|\"[^\"\n]*\"|(?<!\w)'[^'\n]{2,}'(?!\w)|(?m:^\s*>.*$)")
# How sentences begin that ask, order or suppose, with or without a question mark.
_NO_STATEMENT = re.compile(
    r"\W*(?:please\s+)?(?:tell|give|show|help|explain|find|suggest|recommend|let|list|write|compare|describe|thanks?|what|"
    r"which|how|where|when|who|why|can|could|should|may|must|do|does|did|is|are|am|will|would|if|suppose|imagine|assuming|"
    r"cosa|che|quale|quali|come|dove|quando|chi|perché|posso|potrei|dovrei|dimmi|se)\b",
    re.I,
)
_JOINTS = re.compile(
    r"[,;:–—]\s*|\s-\s|\s+(?:and|but|so)\s+(?=(?:what|which|how|where|when|who|why|can|could|should|may|must|do|does|is|"
    r"are|will|would)\b)|"
    r"\s+(?=(?:what|which|how|where|when|who|why)\b)|\s+(?:given that|because|since)\s+(?=(?:i|we|my)\b)",
    re.I,
)
_ASKS = re.compile(
    r"\b(?:what|which|how|where|when|who|why|cosa|quale|quali|come|dove|quando|chi|perché|posso|potrei|dovrei)\b|[?？]",
    re.I,
)


def said_of_self(text: str) -> list[str]:
    """What the speaker of `text` states about themselves, word for word: whole sentences, and of what asks or orders
    the clauses that state something ("I am vegetarian, what should I eat?"); never a question, an order or a
    supposition itself, nor what stands in quotation marks or after ">": somebody else said that."""
    said = []
    blanked = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    for bare in sentences(blanked):
        sentence = text[bare.start : bare.end]
        if not sentence.endswith(("?", "？")) and not _NO_STATEMENT.match(bare.text):
            said += [sentence] if _ENGLISH.search(bare.text) or _ITALIAN.match(bare.text) else []
        elif not re.match(r"\W*(?:if|se|suppose|imagine|assuming)\b", bare.text, re.I):
            said += _clauses(bare.text.rstrip("?？.! "))
    return said


def _clauses(sentence: str) -> list[str]:
    found = []
    for clause in (part.strip() for part in _JOINTS.split(sentence)):
        stated = _CLAUSE.fullmatch(clause)
        if stated and not _ASKS.search(stated[1]):
            found.append(stated[1])
        elif _ITALIAN.match(clause) and not _ASKS.search(clause):
            found.append(clause)
    return found
