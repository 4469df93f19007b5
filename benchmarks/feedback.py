"""Does feedback help? Simulated people with hidden preferences over the MedQuAD cards.

    python benchmarks/feedback.py --data ../shared/data [--work FOLDER] [--seed 2] [--people 200] [--strength 1]

Topics are the 178 that at least 8 cards of 2 websites and 4 kinds speak of; a card is found by its question. Each
person has said one thing about themselves. A card on the topic is worth to them what a logistic model of their hidden
tastes says, 0 to 1: tastes for each website, each kind of card, and nearness to what they said; a card on another topic
is worth nothing. They ask about one topic after the other, see five cards and click as a click model says; in one of
ten decisions a coin decides. nDCG@5 (gain: the worth) is that of 20 topics that they never ask about. People with
random tastes draw the worth of each card by lot; people who click blindly do so by coin and find each card on the topic
worth 1. Click models: `position` looks at place r with chance 1 / r (Richardson, Dominowska & Ragno 2007); `cascade`
reads from the top, stops after a click with chance 0.7 and otherwise goes on with 0.8 (after Craswell et al. 2008).
The constants of `people.weights` and `people.learning` were chosen on people of seed 1.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cards import built_store, read_cards
from personable.board import Board
from personable.embed import Embedder, make_embedder
from personable.kit import Kit
from personable.notes import PortraitNote
from personable.people.learning import clicked, learnt
from personable.people.weights import Candidate, Weights, order
from personable.pipelines.finding import find
from personable.pipelines.ranking import evidence
from personable.retrieval.hybrid import HybridRetriever
from personable.settings import Settings
from personable.types import Hit, Passage, Question, Used

AFTER = (0, 5, 20, 50)
SHOWN, TESTED, NOISE = 5, 20, 0.1
STATEMENTS = (
    "I want to know how it is treated",
    "I worry about what my children may inherit from me",
    "I have to go to the hospital for tests soon",
    "I feel pain and want to know what other signs there are",
    "I want to know how long one can live with it",
    "I take part in clinical trials",
    "I look for ways to prevent illness",
    "I am a nurse and explain illnesses to patients",
)


@dataclass(frozen=True)
class World:
    """What is found for a topic by who made a statement; the cards of a topic; how near statements are to them."""

    found: dict[tuple[str, str], list[Hit]]
    on_topic: dict[str, dict[str, Passage]]
    near: dict[tuple[str, str], float]


@dataclass(frozen=True)
class Person:
    kind: str
    statement: str
    tastes: dict[str, float]
    clicks: str
    seed: int

    def worth(self, world: World, topic: str, card: str) -> float:
        passage = world.on_topic[topic].get(card)
        if passage is None:
            return 0.0
        if self.kind == "blind clicks":
            return 1.0
        if self.kind == "random tastes":
            return random.Random(f"{self.seed} {card}").random()
        site, kind = str(passage.meta["site"]), str(passage.meta["type"])
        said = self.tastes["statement"] * world.near[self.statement, card]
        return 1 / (1 + math.exp(-(self.tastes[site] + self.tastes[kind] + said)))


def topics_of(cards: list[Passage]) -> dict[str, dict[str, Passage]]:
    """Topic → its cards by id."""
    by_topic: dict[str, dict[str, Passage]] = defaultdict(dict)
    for card in cards:
        by_topic[str(card.meta["focus"])][card.id] = card
    return {
        topic: held
        for topic, held in by_topic.items()
        if topic
        and len(held) >= 8
        and len({card.meta["site"] for card in held.values()}) >= 2
        and len({card.meta["type"] for card in held.values()}) >= 4
    }


async def world_of(folder: Path, cards: list[Passage], embedder: Embedder) -> World:
    on_topic = topics_of(cards)
    known = {card.id: card for card in cards}
    questions = [Passage(id=card.id, text=card.title) for card in cards]
    found = {}
    with built_store(folder, questions, embedder) as store:
        kit = Kit(Settings(home=folder), retriever=HybridRetriever(store, embedder), embedder=embedder)
        for topic in on_topic:
            for text in STATEMENTS:
                person = PortraitNote(known=True, dial="on", statements=[Used(statement="s", text=text)])
                hits, _ = await find(kit, Question(text=topic), person, 1.0, Board())
                found[topic, text] = [_told(hit, known[hit.passage.id]) for hit in hits]
    ids = [card for held in on_topic.values() for card in held]
    vectors = embedder.passages([known[card].title for card in ids]) @ embedder.queries(list(STATEMENTS)).T
    scaled = (vectors - vectors.mean(axis=0)) / vectors.std(axis=0)
    near = {(text, card): float(scaled[n, m]) for n, card in enumerate(ids) for m, text in enumerate(STATEMENTS)}
    return World(found, on_topic, near)


def _told(hit: Hit, card: Passage) -> Hit:
    return Hit(passage=card, score=hit.score, features=hit.features | evidence(card, Weights()))


def candidates(world: World, person: Person, topic: str, weights: Weights) -> list[Candidate]:
    """What is found, with this person's affinities as they are now."""
    return [
        hit.features | {name: weights.affinity(name) for name in hit.features if name.startswith(("source:", "type:"))}
        for hit in world.found[topic, person.statement]
    ]


def clicks(person: Person, worth: list[float], rng: np.random.Generator) -> list[int]:
    """Places that are clicked, in the order of clicks."""
    made = []
    for place, value in enumerate(worth):
        if person.clicks == "position" and rng.random() > 1 / (place + 1):
            continue
        chance = 0.5 if person.kind == "blind clicks" or rng.random() < NOISE else value
        if rng.random() < chance:
            made.append(place)
            if person.clicks == "cascade" and rng.random() < 0.7:
                break
        elif person.clicks == "cascade" and rng.random() > 0.8:
            break
    return made


def interact(
    world: World, person: Person, topic: str, weights: Weights, strength: float, rng: np.random.Generator
) -> Weights:
    rows = candidates(world, person, topic, weights)
    hits = world.found[topic, person.statement]
    shown = order(rows, weights, strength)[:SHOWN]
    taken: list[int] = []
    for place in clicks(person, [person.worth(world, topic, hits[row].passage.id) for row in shown], rng):
        pairs = [(shown[a], shown[b], weight) for a, b, weight in clicked(place, len(shown), taken)]
        weights = learnt(weights, rows, pairs)
        taken.append(place)
    return weights


def quality(world: World, person: Person, topics: list[str], weights: Weights, strength: float) -> float:
    """Mean nDCG@5 over topics."""
    discount = 1 / np.log2(np.arange(2, SHOWN + 2))
    values = []
    for topic in topics:
        hits = world.found[topic, person.statement]
        ranked = order(candidates(world, person, topic, weights), weights, strength)[:SHOWN]
        gains = [person.worth(world, topic, hits[row].passage.id) for row in ranked]
        ideal = sorted((person.worth(world, topic, card) for card in world.on_topic[topic]), reverse=True)[:SHOWN]
        values.append(np.dot(gains, discount[: len(gains)]) / np.dot(ideal, discount[: len(ideal)]))
    return float(np.mean(values))


def life(world: World, person: Person, strength: float) -> list[float]:
    """nDCG@5 after each number of interactions in AFTER."""
    rng = np.random.default_rng([person.seed, 1])
    topics = list(world.on_topic)
    rng.shuffle(topics)
    tested, asked = topics[:TESTED], topics[TESTED:]
    weights, values = Weights(), []
    for number in range(max(AFTER) + 1):
        if number in AFTER:
            values.append(quality(world, person, tested, weights, strength))
        weights = interact(world, person, asked[number % len(asked)], weights, strength, rng)
    return values


def people(world: World, kind: str, click_model: str, seed: int, count: int) -> list[Person]:
    cards = [card for held in world.on_topic.values() for card in held.values()]
    names = sorted({str(card.meta[key]) for card in cards for key in ("site", "type")})
    made = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        tastes = {name: float(value) for name, value in zip(names, rng.normal(0, 1.5, len(names)), strict=True)}
        tastes["statement"] = float(rng.uniform(0, 1.5))
        statement = STATEMENTS[int(rng.integers(len(STATEMENTS)))]
        made.append(Person(kind, statement, tastes, click_model, int(rng.integers(2**31))))
    return made


def interval(values: np.ndarray) -> str:
    picks = np.random.default_rng(0).integers(0, len(values), (10_000, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def report(world: World, seed: int, count: int, strength: float) -> None:
    for kind in ("tastes", "random tastes", "blind clicks"):
        for click_model in ("position", "cascade"):
            group = people(world, kind, click_model, seed, count)
            values = np.array([life(world, person, strength) for person in group])
            print(f"\n{kind}, {click_model} clicks, {len(group)} people; plain {values[:, 0].mean():.3f}", flush=True)
            for column, number in enumerate(AFTER):
                gain = values[:, column] - values[:, 0]
                better, worse = Counter(gain > 1e-9)[True], Counter(gain < -1e-9)[True]
                print(
                    f"  after {number:2d}: nDCG@5 {values[:, column].mean():.3f}, minus plain {interval(gain)}, "
                    f"better for {better}, worse for {worse}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="where the collection is kept; embedding it takes minutes")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--strength", type=float, default=1.0, help="the gate's")
    given = parser.parse_args()
    embedder = make_embedder("minilm", threads=1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.work or Path(temporary)) / "card-questions"
        world = asyncio.run(world_of(folder, read_cards(given.data), embedder))
    report(world, given.seed, given.people, given.strength)


if __name__ == "__main__":
    main()
