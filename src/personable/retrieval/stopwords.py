"""Function words: what a query in full sentences holds besides what it asks about."""

from __future__ import annotations

from functools import cache
from typing import Any

# The closed word classes of English: articles, pronouns, prepositions, conjunctions, auxiliaries, question words, and
# the adverbs and courtesies that only hold a sentence together. Content words, however common, are never among them.
_ENGLISH = """
a about after again against all almost already also although always am an and another any anybody anyone anything are
as at because been before being below besides between both but by can cannot could did do does doing done down during
each either else enough even ever every everybody everyone everything few for from further had has have having he her
here hers herself him himself his how however i if in instead into is it its itself just least less lot lots many may
maybe me might mine more most much must my myself neither never no nobody none nor not nothing now of off often on once
only onto or other others ought our ours ourselves out over own per perhaps please quite rather really same shall she
should since so some somebody someone something sometimes somewhat such than thank thanks that the their theirs them
themselves then there therefore these they this those though through thus to together too toward towards under until up
upon us very was we were what whatever when whenever where whether which whichever while who whoever whom whose why will
with within without would yet you your yours yourself yourselves
i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'd we'll
they're they've they'd they'll that's there's what's who's how's where's isn't aren't wasn't weren't hasn't haven't
hadn't doesn't don't didn't won't wouldn't can't couldn't shouldn't mustn't
"""

# Languages whose lists (Snowball's) come with tantivy.
_SHIPPED = {
    "da": "danish", "de": "german", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian", "sv": "swedish",
}  # fmt: skip


@cache
def _english() -> frozenset[str]:
    return frozenset(_ENGLISH.split())


@cache
def _shipped(language: str) -> Any:
    import tantivy

    stop = tantivy.Filter.stopword(_SHIPPED[language])
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(stop).build()


def without_function_words(words: list[str], language: str) -> list[str]:
    """`words` (lower case) without the function words of `language`, or all of them if nothing else is there.

    A language without a list keeps every word.
    """
    if language == "en":
        kept = [word for word in words if word.replace("’", "'") not in _english()]
    elif language in _SHIPPED:
        kept = [word for word in words if _shipped(language).analyze(word)]
    else:
        kept = words
    return kept or words
