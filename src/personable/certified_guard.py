"""The guard for certified text: a model's sentence chooses a certified one, which then leaves as it stands.

A sentence chooses when it is an extract: the same content words in the same order, some of which may be left out;
numbers with their units, negations, conditions and hedges stay tied to the words beside them, none of them dropped,
added or moved. So a swapped dose, a dropped "not", an invented drug and a foreign sentence choose nothing. What
leaves is always the whole certified sentence: no rule about words could tell every shortening that misleads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from personable.guard import Checked, decided, numbers_cited, unmarked
from personable.retrieval.analysis import Analyser
from personable.text import sentences, words
from personable.types import Passage

SHARE = 0.3
"""Of a certified sentence's units (words, or words tied together) that an extract keeps at least."""
_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|%|[^\W\d_]+(?:['’][^\W\d_]+)*|[<>≤≥±]")
_NUMBER = re.compile(r"\d")
_QUESTION = ("?", "？")
_NOT = re.compile(r"n['’]t$")
# What turns, limits or weakens a statement, in English and Italian. Dropping one changes what was certified.
_TURNS = frozenset(
    """
    no not never none nobody nothing neither nor cannot without avoid avoids avoided avoiding except unless only until
    if may might could should must rarely seldom hardly sometimes often usually unlikely less more most least under over
    below above before after all any every some few many half twice double maximum minimum stop stops stopped against
    contraindicated lack lacks lacking unable fail fails failed failing absence absent free instead excluding false myth
    wrong prevent prevents prevented preventing reduce reduces increase increases
    non mai senza nessun nessuno nessuna né niente nulla evitare evita eviti evitate salvo tranne solo soltanto se può
    possono potrebbe potrebbero deve devono dovrebbe raramente meno più meglio prima dopo ogni tutti tutte alcuni poche
    pochi oltre sotto sopra entro smettere smetta smetti smettete manca assenza assente privo priva invece falso ridurre
    riduca ridurrà aumenta aumentare previene prevenire
    """.split()
)
# Words without a claim of their own: a sentence may add and leave them out freely.
_FREE = frozenset(
    """
    a an the this that these those it its they them their he she his her him you your we our us i my me who whom whose
    which is are was were be been being am do does did done doing has have had having of to in on at for from by with as
    and or there here also so such then than too very into about between among during while because since how what when
    where why can will would
    il lo la i gli le l un uno una di del dello della dei degli delle da dal dalla in nel nella nei nelle su sul sulla
    con per tra fra e ed o a al allo alla ai agli alle che chi cui è sono era essere ha hanno aver avere si ci vi questo
    questa questi queste quello quella suo sua suoi sue anche come quando dove perché mentre
    """.split()
)

Units = tuple[str, ...]
"""A sentence as the guard compares it: content words by their stems; what must stay together is one unit."""


@dataclass(frozen=True)
class CertifiedGuard:
    """Checks sentences against numbered `passages` of certified text (1 is the first)."""

    passages: Sequence[Passage]
    language: str = "en"
    _analyser: Analyser = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_analyser", Analyser(self.language))

    def check(self, sentence: str) -> Checked:
        """The certified sentence that `sentence` is an extract of, whole, with the number of its passage; else nothing.

        Titles and questions are no claims, so nothing is an extract of them.
        """
        bare = unmarked(sentence)
        if not words(bare):
            return decided(sentence, "", "removed", "no words")
        asked = self.units(bare)
        if not asked:
            return decided(sentence, "", "removed", "it claims nothing")
        if bare.rstrip().endswith(_QUESTION):
            return decided(sentence, "", "removed", "a question says nothing certified")
        holding = {
            number: min(chosen, key=lambda one: len(one[0]))[1]
            for number, held in self._certified.items()
            if (chosen := [one for one in held if extracts(asked, one[0])])
        }
        if not holding:
            return decided(sentence, "", "removed", self._why(asked))
        number = next((one for one in numbers_cited(sentence) if one in holding), 0)
        whole = holding[number or next(iter(holding))]
        reason = "" if words(whole) == words(bare) else "the whole certified sentence instead"
        if number:
            return decided(sentence, whole, "kept", reason, [number])
        return decided(sentence, whole, "cited", reason or "certified text holds it", [next(iter(holding))])

    def units(self, sentence: str) -> Units:
        """The sentence's content words; numbers and turning words are tied to the content words on both sides."""
        tokens = [token for token in _TOKEN.findall(sentence.casefold().replace("’", "'")) if token not in _FREE]
        tied = [False] * max(len(tokens) - 1, 0)  # whether token n and n + 1 stay together
        for place, token in enumerate(tokens):
            if _ties(token):
                for gap in (place - 1, place):
                    if 0 <= gap < len(tied):
                        tied[gap] = True
        groups: list[list[str]] = []
        for place, token in enumerate(tokens):
            if place and tied[place - 1]:
                groups[-1].append(self._stem(token))
            else:
                groups.append([self._stem(token)])
        return tuple(" ".join(group) for group in groups)

    def _stem(self, token: str) -> str:
        if _NOT.search(token):
            return "not"
        return token if _NUMBER.search(token) else "".join(self._analyser.terms(token)) or token

    @cached_property
    def _certified(self) -> dict[int, list[tuple[Units, str]]]:
        return {number: self._claims(passage.text) for number, passage in enumerate(self.passages, 1)}

    def _claims(self, text: str) -> list[tuple[Units, str]]:
        """The sentences of `text` that say something, on one line each, with their units."""
        whole = [" ".join(unmarked(one.text).split()) for one in sentences(text, self.language)]
        return [(units, one) for one in whole if not one.endswith(_QUESTION) and (units := self.units(one))]

    def _why(self, asked: Units) -> str:
        held = {
            part
            for all_units in self._certified.values()
            for units, _ in all_units
            for unit in units
            for part in unit.split()
        }
        parts = [part for unit in asked for part in unit.split()]
        foreign = [part for part in parts if part not in held]
        if any(_NUMBER.search(part) for part in foreign):
            return "a number that the certified texts do not hold"
        if foreign:
            return f"words that the certified texts do not hold: {', '.join(dict.fromkeys(foreign))[:80]}"
        return "no certified sentence says this: words, their order, a number, a negation or a condition differ"


def extracts(asked: Units, held: Units) -> bool:
    """Whether `asked` is `held` with some words left out: same order, nothing that was tied together among them."""
    if len(asked) < SHARE * len(held):
        return False
    kept = iter(held)
    if not all(unit in kept for unit in asked):  # an ordered subsequence: each search goes on where the last ended
        return False
    return not Counter(unit for unit in held if " " in unit) - Counter(asked)


def _ties(token: str) -> bool:
    return token in _TURNS or bool(_NUMBER.search(token)) or bool(_NOT.search(token)) or token in "%<>≤≥±"
