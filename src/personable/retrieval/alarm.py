"""Hearing an emergency: whether a question holds a phrase, however hurriedly it was typed.

A missed emergency is worse than a false alarm, and every choice here leans that way. "No chest pain", "how do I prevent
a stroke?" and "pain after chest surgery" do ring; of words that only look like one of a phrase, the common ones in
`OTHERS` do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from personable.retrieval.analysis import Analyser

BETWEEN = 5
"""Other words that may stand between the words of a phrase ("pain in the middle of my chest")."""
AFTER_NOT = 3
"""Words that may stand between a negation and what it negates ("non riesco più a respirare")."""
LONG, LONGER = 5, 7
"""Letters of a word that is also heard misspelt by one letter; of one whose first letter may then be the wrong one."""
OTHERS = frozenset(
    """
    stroking strike strikes striking stoke strobe chess cheat hear heard hearth heat breed breeding chose chore prison
    overdone attach venuto venuta venuti venute pesto detto letto metto tetto getto
    """.split()
)
"""Common words that a stem or one letter would turn into a word of many phrases: "stroking my cat" is no stroke."""
_SAME = {
    "pain": "pain pains painful painfully hurt hurts hurting ache aches aching achy",
    "dolore": "dolore dolori dolorante doloranti doloroso dolente duole dolgono male fitta fitte",
}
_MEANING = {word: f"={name}" for name, words in _SAME.items() for word in words.split()}
# What a phrase may lose, links as long as two words of it stay: "pain in the chest" is heard in "my chest hurts".
_ARTICLES = frozenset("a an the il lo la gli le l un una uno".split())
_LINKS = frozenset(
    """
    in on of to at with from i am is are be can have has had do does did it
    al allo alla ai agli alle nel nella di del della da ho ha mi fa fanno è sono
    """.split()
)
_NOT = frozenset("not non".split())
_NONE = frozenset("no without senza nessun nessuno nessuna".split())
_APOSTROPHE = re.compile("[\u2018\u2019\u201b\u02bc\u02b9\u2032\uff07`\u00b4]")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SHORT = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_CLOSED_UP = {one: f"{one[:-2]}n't" for one in "cant couldnt dont doesnt didnt isnt arent wasnt wont".split()}


@dataclass
class Heard:
    """A `question` as it is searched for phrases, which may be in any language, in a collection in `language`."""

    question: str
    language: str
    _readings: list[list[str]] = field(init=False)
    _plain: str = field(init=False)
    _analysers: tuple[Analyser, ...] = field(init=False)
    _forms: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._analysers = (Analyser(self.language), Analyser("en"))
        self._plain = _visible(self.question, "")
        apart = _visible(self.question, " ")  # a zero-width space parts words, or stands within one
        self._readings = [_words(text) for text in dict.fromkeys([self._plain, apart])]

    def holds(self, phrase: str) -> bool:
        """Whether the question holds `phrase`: as it stands, or its words in any order, close to each other.

        Words agree by their stems in the collection's language and in English, without their accents, as names of pain,
        and misspelt by a letter. A negation stays before what it negates. Where the phrase does not stand there whole,
        "no" right before one of its words excludes that word ("my chest is fine, no pain").
        """
        plain = _visible(phrase, "")
        if any(unicodedata.category(letter) == "Lo" for letter in plain) and plain in self._plain:
            return True  # scripts without spaces, or with particles written to the word
        whole = _words(plain)
        named = [word for word in whole if word not in _ARTICLES]
        kept = [word for word in named if word not in _LINKS]
        if len(kept) < 2:
            kept = named or whole
        return any(self._stands(whole, asked) or self._near(kept, asked) for asked in self._readings)

    def _stands(self, phrase: Sequence[str], asked: Sequence[str]) -> bool:
        starts = range(len(asked) - len(phrase) + 1) if phrase else ()
        return any(all(map(self._agree, phrase, asked[at : at + len(phrase)])) for at in starts)

    def _near(self, phrase: Sequence[str], asked: Sequence[str]) -> bool:
        agreeing = {word: {n for n, one in enumerate(phrase) if self._agree(one, word)} for word in set(asked)}
        places = [
            (place, agreeing[word])
            for place, word in enumerate(asked)
            if agreeing[word] and not (place and asked[place - 1] in _NONE and asked[place - 1] not in phrase)
        ]
        return any(_gathered(phrase, places[start:]) for start in range(len(places)))

    def _agree(self, word: str, asked: str) -> bool:
        if word == asked:
            return True
        return asked not in OTHERS and (not self._of(word).isdisjoint(self._of(asked)) or _misspelt(word, asked))

    def _of(self, word: str) -> frozenset[str]:
        """What a word is compared by."""
        if word not in self._forms:
            stems = {" ".join(one.terms(word)) for one in self._analysers}
            self._forms[word] = frozenset({_bare(word), _MEANING.get(word, word), *stems})
        return self._forms[word]


def _gathered(phrase: Sequence[str], places: Sequence[tuple[int, set[int]]]) -> bool:
    """Whether all words of the phrase are among `places` (of the question, with the phrase's words that stand there),
    beginning with the first of them."""
    taken: dict[int, int] = {}
    for place, here in places:
        if place - places[0][0] >= len(phrase) + BETWEEN:
            return False
        for word in here - taken.keys():
            before = word - 1 if word and phrase[word - 1] in _NOT else None
            if before is None or (before in taken and place - taken[before] <= AFTER_NOT + 1):
                taken[word] = place
                break
        if len(taken) == len(phrase):
            return True
    return False


def _misspelt(word: str, asked: str) -> bool:
    """Whether `asked` is `word` with one letter too much, too few, another, or two neighbours exchanged."""
    if len(word) < LONG or abs(len(word) - len(asked)) > 1:
        return False
    same = next((n for n, (one, other) in enumerate(zip(word, asked, strict=False)) if one != other), len(asked))
    one, other = word[same:], asked[same:]
    if one[:2] == other[1::-1] and len(other) > 1 and one[2:] == other[2:]:
        return True
    if same == 0 and len(word) < LONGER:
        return False
    return one[1:] == other[1:] or one[1:] == other or one == other[1:]


def _visible(text: str, instead: str) -> str:
    """`text` folded, with `instead` of soft hyphens, zero-width characters and the like, and one kind of apostrophe."""
    shown = "".join(instead if unicodedata.category(one) == "Cf" else one for one in text)
    return _APOSTROPHE.sub("'", unicodedata.normalize("NFKC", shown).casefold())


def _words(text: str) -> list[str]:
    return [part for word in _WORD.findall(text) for part in _parts(_CLOSED_UP.get(word, word))]


def _parts(word: str) -> Iterator[str]:
    """Contractions written out: "can't", "cannot" and "couldn't" are "can not"."""
    if word == "cannot" or word.endswith("n't"):
        stem = "can" if word in ("cannot", "can't", "couldn't") else word.removesuffix("n't")
        yield from (stem, "not")
        return
    for number, part in enumerate(word.split("'")):
        yield "can" if part == "could" else _SHORT.get(part, part) if number else part


def _bare(word: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one))
