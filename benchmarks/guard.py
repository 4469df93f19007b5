"""The guard for certified text against 200 corrupted replies made from real cards, and against true copies.

    python benchmarks/guard.py --data DATA/medical

Each reply is checked against three cards about one subject. 50 replies each have a number changed, a negation dropped,
a drug put in the place of another word, or a sentence of a card about something else. 1,000 sentences are copied as
they are. Cards and places are drawn with a fixed seed. Prints a table; ends with status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cards import read_cards
from personable.certified_guard import CertifiedGuard
from personable.guard import split_reply
from personable.text import sentences, words
from personable.types import Passage

EACH, COPIES, MOST_REFUSED = 50, 1000, 0.05
DRUGS = (
    "aspirin ibuprofen warfarin metformin amoxicillin prednisone lisinopril morphine insulin digoxin lithium atenolol "
    "sertraline naproxen codeine simvastatin heparin tramadol"
).split()
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not|never|no|without|cannot)\b|n['’]t\b", re.IGNORECASE)


class Case(NamedTuple):
    """Three cards of one subject and a sentence of the first."""

    passages: list[Passage]
    sentence: str
    foreign: Passage


def cases(cards: list[Passage], draw: random.Random) -> Iterator[Case]:
    """Sentences of six to forty words of random cards, without end."""
    about: dict[str, list[Passage]] = {}
    for card in cards:
        about.setdefault(str(card.meta["focus"]), []).append(card)
    subjects = [some for some in about.values() if len(some) >= 3]
    while True:
        passages = draw.sample(draw.choice(subjects), 3)
        fitting = [one.text for one in sentences(passages[0].text) if 6 <= len(words(one.text)) <= 40]
        if fitting:
            yield Case(passages, draw.choice(fitting), draw.choice(draw.choice(subjects)))


def swapped_dose(case: Case, draw: random.Random) -> str | None:
    """Another number in the place of one: one of the same cards where there is any, else twice as much."""
    found = list(_NUMBER.finditer(case.sentence))
    if not found:
        return None
    old = draw.choice(found)
    others = {n for card in case.passages for n in _NUMBER.findall(card.text)} - {n[0] for n in found}
    new = draw.choice(sorted(others)) if others else f"{float(old[0].replace(',', '')) * 2:g}"
    return case.sentence[: old.start()] + new + case.sentence[old.end() :]


def dropped_negation(case: Case, draw: random.Random) -> str | None:
    """The sentence without one of its negations."""
    found = list(_NEGATION.finditer(case.sentence))
    if not found:
        return None
    gone = draw.choice(found)
    kept = "can" if gone[0].lower() == "cannot" else ""
    return " ".join(f"{case.sentence[: gone.start()]}{kept}{case.sentence[gone.end() :]}".split())


def invented_drug(case: Case, draw: random.Random) -> str | None:
    """A drug that none of the cards names in the place of a longer word, or put behind the sentence."""
    text = " ".join(card.text for card in case.passages).lower()
    drug = draw.choice([one for one in DRUGS if one not in text])
    found = list(re.finditer(r"\b[a-z]{5,}\b", case.sentence))
    if not found or draw.random() < 0.3:
        return f"{case.sentence.rstrip('.')} and take {drug}."
    old = draw.choice(found)
    return case.sentence[: old.start()] + drug + case.sentence[old.end() :]


def foreign_sentence(case: Case, draw: random.Random) -> str | None:
    """A sentence of a card about something else that none of the three cards holds."""
    own = " ".join(card.text for card in case.passages)
    found = [one.text for one in sentences(case.foreign.text) if len(words(one.text)) >= 6 and one.text not in own]
    return draw.choice(found) if found else None


KINDS: dict[str, Callable[[Case, random.Random], str | None]] = {
    "swapped dose": swapped_dose,
    "dropped negation": dropped_negation,
    "invented drug": invented_drug,
    "foreign sentence": foreign_sentence,
}


def passed(passages: list[Passage], reply: str) -> list[str]:
    """What of a reply leaves the guard."""
    guard = CertifiedGuard(passages)
    return [checked.text for checked in map(guard.check, split_reply(reply)) if checked.text]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with medquad_cards.jsonl.gz")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    cards, draw = read_cards(given.data.parent), random.Random(given.seed)
    drawn, missed, stopped = cases(cards, draw), False, 0
    print("| corrupted | replies | passed |\n|---|---|---|")
    for name, corrupt in KINDS.items():
        through, made = [], 0
        while made < EACH:
            case = next(drawn)
            reply = corrupt(case, draw)
            if reply is None or reply == case.sentence:
                continue
            made += 1
            # What stays of a corrupted sentence is harmless only where it is a sentence of the cards itself.
            true = {" ".join(words(one)) for card in case.passages for one in split_reply(card.text)}
            through += [one for one in passed(case.passages, reply) if " ".join(words(one)) not in true]
        missed = missed or (bool(through) and name != "foreign sentence")
        stopped += made - len(through)
        print(f"| {name} | {made} | {len(through)} |")
        for one in through:
            print(f"    passed: {one}", file=sys.stderr)
    copies = [next(drawn) for _ in range(COPIES)]
    refused = [case for case in copies if not passed(case.passages, case.sentence)]
    print(f"\n{len(refused)} of {COPIES} copied sentences refused ({len(refused) / COPIES:.1%})")
    all_corrupted = EACH * len(KINDS)
    print(
        f"precision {stopped / (stopped + len(refused)):.3f}, recall {stopped / all_corrupted:.3f} of {all_corrupted}"
    )
    for case in refused[:10]:
        print(f"    refused: {case.sentence}", file=sys.stderr)
    sys.exit(missed or len(refused) > MOST_REFUSED * COPIES)


if __name__ == "__main__":
    main()
