"""Reading a lay person's message: what it asks, with misspelt names mended and abbreviations written out.

Messages to health services bring greetings, a life story and a subject line; certified cards have a name and one plain
question. Everything here is by rules and the collection's own words: no model, no dictionary.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from personable.errors import DataError
from personable.retrieval.stopwords import without_function_words
from personable.text import sentences
from personable.types import Value

ALIKE = 0.8
"""How alike (difflib's ratio) a word of the collection must be to stand for one that it does not know."""
USUAL = 3
"""Documents whose texts hold a word that is then known, however rare it looks."""
MEANINGS = 3
"""Names that may share initials; more say nothing."""
MOST_MENDED = 30
"""Different words that are mended in one message: one that holds more is in another language, or no language."""
STORED = "words.json"
LONGEST = 2000
"""Words of a message that are read: the first ones and, where it is longer, its last question with them."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_SHORT = re.compile(r"\b[A-Za-z]{3,6}\b", re.ASCII)
_OPENS = re.compile(
    r"\s*(?:and |also |so |but |e |ma )?(?:what|which|how|where|when|who|why|can|could|should|does|do|is|are|will|"
    r"would|did|has|have|any|che|cosa|qual[ei]?|come|dove|quando|chi|perché|posso|può|devo|è|ci sono|quanto|quanti)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:want(?:ed)? to know|would like|looking for|wonder\w*|need to know|tell me|explain|inform me|information on|"
    r"send me|how to|interested in|vorrei (?:sapere|capire)|mi chied\w+|informazioni su|ditemi|spiegatemi)\b",
    re.IGNORECASE,
)
_KINDS = {
    "symptoms": r"symptom|sign|feel|look like|sintom",
    "treatment": r"treat|therap|medic|remed|cure|drug|help|taper|stop|cur[ao]\b|terapi|farmac|rimedi",
    "causes": r"caus|why|due to|because|lead to|perché|dovut",
    "inheritance": r"inherit|genetic|passed|pass it|heredit|famil|eredit",
    "exams and tests": r"diagnos|test|detect|scan|exam|tell if|esam|analis",
    "prevention": r"prevent|avoid|preven|evitare",
    "outlook": r"prognos|outlook|long.term|progress|surviv|success|guari",
    "susceptibility": r"risk|who gets|catch|contagious|get it|rischi|contagios",
    "information": r"information|what is|what are|tell me about|knowledge|define|informazion|che cos|cos'è",
    "complications": r"complication|effects?\b|complican|effett",
    "research": r"research|trial|studies|ricerc",
    "frequency": r"how common|rare|how many|quanto è (?:comune|diffus)",
}
KINDS = {kind: re.compile(rf"\b(?:{cues})", re.IGNORECASE) for kind, cues in _KINDS.items()}
"""Words that tell which kind of card (MedQuAD's question types) a message asks for, in English and Italian."""


class Asked(Value):
    """A message as it is searched with: `focus` its questions, `whole` all of it, both mended; `kinds` of cards."""

    focus: str
    whole: str
    kinds: frozenset[str] = frozenset()
    mended: dict[str, str] = Field(default_factory=dict)


class Vocabulary(Value):
    """The words of a collection: in how many `titles` each stands, which others its `texts` use at least three times,
    and the names that `initials` stand for ("nph": Normal Pressure Hydrocephalus), where texts use these as a word of
    their own."""

    titles: dict[str, int]
    texts: frozenset[str]
    initials: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, documents: Iterable[tuple[str, str, str]]) -> Vocabulary:
        """The vocabulary of documents: their (title, focus, text)."""
        titles, texts, names = Counter[str](), Counter[str](), dict[str, dict[str, str]]()
        short: set[str] = set()
        for title, focus, text in documents:
            titles.update({word.casefold() for word in _WORD.findall(f"{title} {focus}")})
            texts.update({word.casefold() for word in _WORD.findall(text)})
            short.update(_SHORT.findall(text))
            if letters := _initials(focus or title):
                names.setdefault(letters, {}).setdefault((focus or title).casefold(), focus or title)
        usual = frozenset(word for word, count in texts.items() if count >= USUAL and word not in titles)
        initials = {
            letters: tuple(some.values())
            for letters, some in sorted(names.items())
            if len(some) <= MEANINGS and letters.upper() in short and letters not in short
        }
        return cls(titles=dict(sorted(titles.items())), texts=usual, initials=initials)

    def store(self, folder: Path) -> None:
        """Keep it in a collection's folder."""
        new = folder / f"{STORED}.new"
        new.write_text(self.model_dump_json(), encoding="utf-8")
        new.replace(folder / STORED)

    @classmethod
    def stored(cls, folder: Path) -> Vocabulary:
        """The vocabulary of the collection in `folder`. Raises DataError where it is missing or damaged."""
        try:
            return cls.model_validate_json((folder / STORED).read_bytes())
        except (OSError, ValidationError) as error:
            raise DataError(f"{folder / STORED} is missing or damaged; index the certified collection again") from error


@dataclass
class Lay:
    """Reads messages with a collection's vocabulary."""

    vocabulary: Vocabulary
    language: str = "en"
    _nearest_known: dict[str, str] = field(default_factory=dict)

    def read(self, message: str) -> Asked:
        """What `message` asks. Of several questions all count; where it has none, everything in it does."""
        mended: dict[str, str] = {}
        whole = self._mend(_shortened(message), mended)
        asking = [one.text for one in sentences(whole, self.language) if asks(one.text)]
        focus = " ".join(asking) or whole
        head, _, rest = whole.partition("\n")
        if rest and head not in focus:  # a subject line names what the question calls "it"
            focus = f"{head}\n{focus}"
        kinds = frozenset(kind for kind, cue in KINDS.items() if cue.search(focus))
        names = [name for short in dict.fromkeys(_SHORT.findall(message)) for name in self._written_out(short)]
        added = "".join(f"\n{name}" for name in names)
        return Asked(focus=focus + added, whole=whole + added, kinds=kinds, mended=mended)

    def _mend(self, text: str, mended: dict[str, str]) -> str:
        def one(match: re.Match[str]) -> str:
            if len(mended) < MOST_MENDED and (near := self._nearest(match[0].casefold())):
                mended[match[0]] = near
                return near
            return match[0]

        return _WORD.sub(one, text)

    def _nearest(self, word: str) -> str:
        """The word of the titles that `word` is probably meant to be; "" where it is known or nothing is near."""
        if word not in self._nearest_known:
            near: list[str] = []
            if word not in self.vocabulary.titles and word not in self.vocabulary.texts:
                alike = [one for one in self.vocabulary.titles if one[0] == word[0] and abs(len(one) - len(word)) <= 2]
                near = difflib.get_close_matches(word, alike, 1, ALIKE)
            self._nearest_known[word] = near[0] if near else ""
        return self._nearest_known[word]

    def _written_out(self, short: str) -> tuple[str, ...]:
        return self.vocabulary.initials.get(short.casefold(), ())


def asks(sentence: str) -> bool:
    """Whether a sentence asks something, also without a question mark."""
    return sentence.rstrip().endswith(("?", "？")) or bool(_OPENS.match(sentence) or _WANTS.search(sentence))


def _shortened(message: str) -> str:
    """The first words of a very long message, and the last questions in it where they come later."""
    found = list(re.finditer(r"\S+", message))
    if len(found) <= LONGEST:
        return message
    head, rest = message[: found[LONGEST - 1].end()], message[found[LONGEST].start() :]
    late = [one.text for one in sentences(rest) if asks(one.text)]
    return " ".join([head, *late[-3:]])


def _initials(name: str) -> str:
    """The first letters of a name of three or more words, lower case, without function words; else ""."""
    parts = without_function_words(re.findall(r"[^\W_][\w-]*", name.casefold()), "en")
    return "".join(part[0] for part in parts) if 3 <= len(parts) <= 6 else ""
