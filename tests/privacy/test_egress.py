"""What leaves this machine: every request to a remote model or embedder is read, byte for byte."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from personable.board import Board
from personable.embed import make_embedder
from personable.embed.remembering import Remembering
from personable.kit import Kit
from personable.llm.making import make_model
from personable.notes import DecisionNote, HistoryNote, PortraitNote
from personable.people.events import Event
from personable.people.store import People
from personable.pipelines.answer import answer
from personable.pipelines.converse import converse
from personable.retrieval.hybrid import HybridRetriever
from personable.retrieval.store import PassageStore
from personable.settings import Settings
from personable.types import Answer, Passage, Question
from tests.privacy.elsewhere import Elsewhere, elsewhere

pytestmark = pytest.mark.slow

Pipeline = Callable[[Kit, Question, Board], Awaitable[Answer]]

OPEN = "I prefer lentils to meat"
SECRETS = {
    "marked": "I have lactose intolerance and marigold hives",
    "unclassified": "I need more iron since the zanzibar operation",
    "proposed": "I sleep badly because of the quokka",
    "rejected": "I am allergic to tamarillo",
    "event": "xylophone clinic opening hours",
    "click": "Living with axolotl fever",
    "turn": "Does wolfram cure my rash?",
    "name": "Anastasia Quintessa",
    "id": "ana-7f3e9",
}
"""Each holds a word that stands nowhere else."""
CANARIES = ("marigold", "zanzibar", "quokka", "tamarillo", "xylophone", "axolotl", "wolfram", "quintessa", "7f3e9")

PIPELINES: dict[str, Pipeline] = {"answer": lambda kit, question, board: answer(kit, question, board=board)}
PLANS = {"separate": 10, "merged": 3, "reply only": 1, "numeric": 0}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    """A server on loopback that counts as being elsewhere."""
    monkeypatch.setattr("personable.llm.making.is_loopback", lambda address: False)
    monkeypatch.setattr("personable.embed.endpoint._LOCAL", ())
    with elsewhere() as kept:
        yield kept


@pytest.fixture
async def ana(people: People) -> str:
    id = SECRETS["id"]
    await people.add(id, SECRETS["name"], "on")
    await people.set(id, learned="use")
    await people.tell(id, OPEN, sensitive=False)
    await people.tell(id, SECRETS["marked"], sensitive=True)
    await people.tell(id, SECRETS["unclassified"])
    await people.tell(id, SECRETS["proposed"], source="inferred", cause="the quokka again")
    await people.reject(id, (await people.tell(id, SECRETS["rejected"])).id)
    await people.record(Event(person=id, kind="query", session="old", text=SECRETS["event"]))
    await people.record(Event(person=id, kind="click", session="s", text=SECRETS["click"]))
    await people.add_turn(id, "s", SECRETS["turn"], "No.")
    return id


Make = Callable[..., Kit]


@pytest.fixture
def make(
    tmp_path: Path, people: People, passages: list[Passage], server: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    """`make("model", "embedder")` is a kit with those parts elsewhere; the others are on this machine."""
    stores = []

    def made(*remote: str, calls: int = 10, trusted: bool = False) -> Kit:
        def model(role: str) -> object:
            far = make_model("server:m", url=server.url, trusted=trusted)
            near = make_model("server:m", url=server.url, trusted=True)
            return far if role in remote else near if {"model", "agents"} & set(remote) else None

        far = make_embedder("endpoint:e", server.url, trusted=trusted)
        embedder = Remembering(far if "embedder" in remote else make_embedder("hash:256"))
        store = PassageStore(tmp_path / "".join(remote), embedder=embedder, write=True)
        for passage in passages:
            store.put(passage.document, "digest", [passage])
        store.commit()
        stores.append(store)
        kit = Kit(Settings(home=tmp_path, budget_calls=calls), HybridRetriever(store, embedder), people, embedder)
        kit.model, kit.agents_model = model("model"), model("agents")  # type: ignore[assignment]
        return kit

    yield made
    for store in stores:
        store.close()


def found_in(sent: str) -> list[str]:
    return [canary for canary in CANARIES if canary in sent.casefold()]


ASKED = "What should I eat? And what about it?"


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize(
    "remote",
    [("model", "agents"), ("model",), ("agents",), ("embedder",), ("model", "agents", "embedder")],
    ids=lambda parts: "+".join(parts),
)
async def test_no_request_holds_what_may_not_leave(
    make: Make, ana: str, server: Elsewhere, remote: tuple[str, ...], plan: str, pipeline: str
) -> None:
    kit, board = make(*remote, calls=PLANS[plan]), Board()
    await PIPELINES[pipeline](kit, Question(text=ASKED, person=ana, session="s"), board)
    plans = [post.content.choice for post in board.all(DecisionNote) if post.content.about == "agents"]  # type: ignore[union-attr]
    assert plans == [plan if kit.model else "numeric"]
    assert found_in(server.sent) == []
    assert bool(server.embeddings) == ("embedder" in remote)
    assert len(server.chats) == {"separate": 7, "merged": 2, "reply only": 1, "numeric": 0}[plan] * bool(kit.model)
    assert all(OPEN in sent for sent in server.chats)  # what may leave does: the test would see the rest
    portrait = board.latest(PortraitNote)
    assert portrait is not None
    assert [one.text for one in portrait.statements] == [OPEN]
    assert {one.text for one in portrait.withheld} == {SECRETS[name] for name in ("marked", "unclassified", "proposed")}
    await kit.close()


@pytest.mark.parametrize(
    "remote",
    [("model", "agents"), ("model",), ("agents",), ("embedder",), ("model", "agents", "embedder")],
    ids=lambda parts: "+".join(parts),
)
async def test_no_request_of_a_conversation_holds_what_may_not_leave(
    make: Make, ana: str, server: Elsewhere, remote: tuple[str, ...]
) -> None:
    kit, board = make(*remote), Board()
    await converse(kit, Question(text=ASKED, person=ana, session="s"), board=board)
    assert found_in(server.sent) == []
    assert bool(server.embeddings) == ("embedder" in remote)
    assert bool(server.chats) == (kit.model is not None)
    history = board.latest(HistoryNote)
    assert history is not None
    assert (history.turns, history.withheld) == ([], 1)
    if kit.model is not None:
        assert any(OPEN in sent for sent in server.chats)  # what may leave does: the test would see the rest
    await kit.close()


async def test_a_remote_embedder_still_ranks_and_searches_what_may_leave(
    make: Make, ana: str, server: Elsewhere
) -> None:
    await answer(make("embedder"), Question(text=ASKED, person=ana))
    assert any(f'"{OPEN}"' in sent for sent in server.embeddings)
    assert any(f"{ASKED} {OPEN}" in sent for sent in server.embeddings)


@pytest.mark.parametrize("remote", [("model", "agents"), ("embedder",)], ids=lambda parts: "+".join(parts))
@pytest.mark.parametrize("allowed", ["trusted", "by the person"])
async def test_what_is_allowed_leaves_and_what_never_counts_does_not(
    make: Make, people: People, ana: str, server: Elsewhere, remote: tuple[str, ...], allowed: str
) -> None:
    await people.set(ana, share_sensitive=allowed == "by the person")
    kit = make(*remote, trusted=allowed == "trusted")
    await answer(kit, Question(text=ASKED, person=ana, session="s"))
    told = {"marigold", "zanzibar", "quokka", "wolfram", "axolotl"} | ({"xylophone"} if kit.model else set())
    assert set(found_in(server.sent)) == told
    await kit.close()
