"""Write the background frequencies that `quote` ships: the share of passages that hold each frequent English stem.

    python benchmarks/quote_lexicon.py --openqa ../shared/data/openqa --cards medquad_cards.jsonl.gz

Counted over the passages of the open QA rows with an odd `index` and every twentieth card's beginning. The list of
function words in the same file is kept as it is.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import Stemmer

from openqa import read_rows
from personable.llm import quote_reading
from personable.text import words

_LEXICON = Path(quote_reading.__file__).with_name("quote_lexicon.json")
_KEPT = 3000
_LEAST_CHARACTERS = 80


def texts(openqa: Path, cards: Path) -> Iterator[str]:
    for row in read_rows(openqa, odd=True):
        yield from (passage.text for passage in row.passages if len(passage.text) > _LEAST_CHARACTERS)
    with gzip.open(cards, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if number % 20 == 0:
                yield json.loads(line)["answer"][:600]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openqa", type=Path, required=True)
    parser.add_argument("--cards", type=Path, required=True)
    arguments = parser.parse_args()
    stemmer = Stemmer.Stemmer("en")
    counts: Counter[str] = Counter()
    total = 0
    for text in texts(arguments.openqa, arguments.cards):
        counts.update(set(stemmer.stemWords(words(text))))
        total += 1
    frequent = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:_KEPT]
    common = json.loads(_LEXICON.read_text(encoding="utf-8"))["common"]
    background = {stem: round(count / total, 5) for stem, count in frequent}
    text = json.dumps({"common": common, "background": background}, ensure_ascii=False, separators=(",", ":"))
    _LEXICON.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
