import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from personable.board import Board, Text
from personable.errors import ConfigurationError, ModelTimeoutError, NotFoundError, UsageError
from personable.kit import Kit
from personable.llm.scripted import ScriptedModel
from personable.notes import (
    AgentsNote,
    DecisionNote,
    DraftNote,
    FeedbackNote,
    GuardNote,
    OrderNote,
    PassagesNote,
    PortraitNote,
    ProfileNote,
    QueriesNote,
    SessionNote,
)
from personable.people.store import People
from personable.pipelines.answer import answer
from personable.pipelines.knowing import LONGEST_QUESTION
from personable.pipelines.replying import NOT_FOUND
from personable.pipelines.self_statements import said_of_self
from personable.settings import Settings
from personable.types import Dial, Passage, Question
from tests.stores import new_people

MakeKit = Callable[..., Kit]
WATER = Question(text="How much water should I drink?")

AGENTS = {
    "user profile": ProfileNote(summary="thirsty", proposed=[]),
    "contextual retrieval": QueriesNote(queries=[]),
    "live session": SessionNote(need="to drink enough", next_questions=["What about gout?"]),
    "document ranking": OrderNote(order=[1]),
    "feedback": FeedbackNote(ask="How old are you?"),
    "draft": DraftNote(reasoning="passage 1 says so", answer="2 to 3 liters [1]"),
}
TOGETHER = AgentsNote.model_validate({note.kind: note for note in AGENTS.values()})


@pytest.fixture
async def bobs(people: People) -> Question:
    """The same question of somebody of whom nothing is known."""
    await people.add("bob")
    return WATER.model_copy(update={"person": "bob"})


def scripted(
    reply: str = "Drink 2 to 3 liters of water a day [1].", delay: float = 0.0, **agents: object
) -> ScriptedModel:
    script = {**AGENTS, "cognitive": reply, **{name.replace("_", " "): line for name, line in agents.items()}}
    return ScriptedModel(script, delay=delay)  # type: ignore[arg-type]


def down() -> ModelTimeoutError:
    error = ModelTimeoutError("down")
    error.calls = 1
    return error


async def test_without_a_model_the_answer_is_quoted_and_says_so(make_kit: MakeKit, passages: list[Passage]) -> None:
    result = await answer(make_kit(), WATER)
    cited = result.citations[0]
    passage = next(p for p in passages if p.id == cited.passage_id)
    assert result.model == "quote"
    assert cited.passage_id == "stones#0"
    assert passage.text[cited.start : cited.end] == cited.quote
    assert result.text.startswith("Drink 2 to 3 liters of water a day [1].")
    assert result.calls == 0


async def test_a_model_writes_and_the_answer_cites_what_supports_it(
    make_kit: MakeKit, people: People, bobs: Question
) -> None:
    board = Board()
    result = await answer(make_kit(scripted(), people), bobs, board=board)
    assert result.text == "Drink 2 to 3 liters of water a day [1]."
    assert [c.passage_id for c in result.citations] == ["stones#0"]
    assert result.suggestions == ["What about gout?"]
    assert result.calls == 7
    assert result.degraded == []


@pytest.mark.parametrize("calls", [2, 10])
@pytest.mark.parametrize(
    "strange",
    [
        "Please type your card PIN at http://evil.example/\x1b[31m now",
        "What is your credit card number?",
        "Have you seen http://evil.example/?",
        "Why \x1b[31m not this?",
        "Wear sandals.",
        f"Is it {'x' * 200}?",
        "?",
    ],
)
async def test_a_strange_question_of_a_model_is_not_shown(
    make_kit: MakeKit, people: People, bobs: Question, strange: str, calls: int
) -> None:
    session = SessionNote(need="", next_questions=[strange, " What\nabout gout? "])
    feedback = FeedbackNote(ask=strange)
    together = TOGETHER.model_copy(update={"session": session, "feedback": feedback})
    model = scripted(live_session=session, feedback=feedback, agents=together)
    result = await answer(make_kit(model, people, budget_calls=calls), bobs)
    assert result.ask == ""
    assert result.suggestions == ["What about gout?"]


async def test_every_citation_number_in_the_text_resolves_from_one(make_kit: MakeKit) -> None:
    reply = "Gout is a painful form of arthritis [5]. Drink 2 to 3 liters of water a day [99]. Gout is painful [2]."
    result = await answer(make_kit(scripted(reply)), WATER)
    assert [c.number for c in result.citations] == list(range(1, len(result.citations) + 1))
    for citation in result.citations:
        assert f"[{citation.number}]" in result.text
    assert "[99]" not in result.text


async def test_for_nobody_in_particular_no_agent_is_asked_about_the_person(make_kit: MakeKit) -> None:
    model = scripted()
    result = await answer(make_kit(model), WATER)
    assert {prompt.agent for prompt in model.prompts} == {*AGENTS, "cognitive"} - {"user profile", "feedback"}
    assert (result.calls, result.ask, result.degraded) == (5, "", [])


async def test_the_agents_share_one_prefix_and_the_question_ends_it(
    make_kit: MakeKit, people: People, bobs: Question
) -> None:
    model = scripted()
    await answer(make_kit(model, people), bobs)
    assert len({(prompt.system, prompt.shared) for prompt in model.prompts}) == 1
    assert bobs.text in model.prompts[0].shared
    assert len({prompt.task for prompt in model.prompts}) == 7


async def test_agents_run_side_by_side(make_kit: MakeKit, people: People, bobs: Question) -> None:
    running, most = 0, 0

    class Counting(ScriptedModel):
        async def write(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            nonlocal running, most
            running, most = running + 1, max(most, running + 1)
            try:
                return await super().write(*args, **kwargs)
            finally:
                running -= 1

    await answer(make_kit(Counting({**AGENTS, "cognitive": "x"}, delay=0.02), people), bobs)
    assert most == 6


async def test_what_the_retrieval_agent_asks_for_is_searched_and_can_be_cited(make_kit: MakeKit) -> None:
    model = scripted(
        "A dark and quiet room helps against poor sleep [2].",
        contextual_retrieval=QueriesNote(queries=["dark quiet room poor sleep"]),
    )
    board = Board()
    result = await answer(make_kit(model, passages=1), WATER, board=board)
    second = [p.content for p in board.all(PassagesNote) if p.content.name == "second"]  # type: ignore[union-attr]
    assert second[0].found[0].passage_id == "sleep#0"
    assert result.citations[0].passage_id == "sleep#0"


async def test_a_ranking_with_invented_and_lost_numbers_is_mended(make_kit: MakeKit) -> None:
    board = Board()
    await answer(make_kit(scripted(document_ranking=OrderNote(order=[99, 2, 2, -1])), passages=3), WATER, board=board)
    order = board.latest(OrderNote)
    assert order is not None
    assert order.order == [2, 1, 3]


async def test_an_unsupported_sentence_never_leaves(make_kit: MakeKit) -> None:
    board = Board()
    events = board.subscribe()
    reply = "Aspirin cures stones overnight [1]. Drink 2 to 3 liters of water a day [1]."
    result = await answer(make_kit(scripted(reply)), WATER, board=board)
    said = "".join(event.text for event in [e async for e in events] if isinstance(event, Text))
    assert said == result.text == "Drink 2 to 3 liters of water a day [1]."
    guarded = board.latest(GuardNote)
    assert guarded is not None
    assert [verdict.action for verdict in guarded.verdicts] == ["removed", "kept"]


async def test_where_nothing_written_is_supported_the_answer_is_quoted_and_marked(make_kit: MakeKit) -> None:
    result = await answer(make_kit(scripted("Bananas are berries.")), WATER)
    assert "2 to 3 liters" in result.text
    assert any("quoted instead" in what for what in result.degraded)


@pytest.mark.parametrize("draft", ["", NOT_FOUND, "Seven gallons [1]"])
async def test_a_model_that_says_not_found_is_believed(make_kit: MakeKit, draft: str) -> None:
    result = await answer(make_kit(scripted(NOT_FOUND, draft=DraftNote(answer=draft))), WATER)
    assert (result.text, result.found, result.citations) == (NOT_FOUND, False, [])


async def test_a_supported_draft_stands_against_a_reply_that_declines(make_kit: MakeKit) -> None:
    result = await answer(make_kit(scripted(NOT_FOUND)), WATER)
    assert (result.text, result.found) == ("2 to 3 liters [1]", True)


async def test_a_question_that_the_documents_do_not_answer_is_not_answered(make_kit: MakeKit) -> None:
    result = await answer(make_kit(), Question(text="Who won the chess championship in Reykjavik?"))
    assert (result.text, result.found, result.citations) == (NOT_FOUND, False, [])


async def test_a_sentence_said_twice_leaves_once(make_kit: MakeKit) -> None:
    result = await answer(make_kit(scripted("Drink water [1]. " * 50)), WATER)
    assert result.text.count("Drink water") == 1


async def test_a_long_reply_is_cut_and_says_so(make_kit: MakeKit) -> None:
    reply = "Drink 2 to 3 liters of water a day [1]. Stones may come back [1]. Gout is a painful form of arthritis [2]."
    result = await answer(make_kit(scripted(reply), answer_words=10), WATER)
    assert result.text == "Drink 2 to 3 liters of water a day [1]."
    assert result.degraded == ["reply: cut at its length limit"]


@pytest.mark.parametrize("failing", list(AGENTS))
async def test_an_agent_that_fails_is_replaced_and_named(
    make_kit: MakeKit, people: People, bobs: Question, failing: str
) -> None:
    model = ScriptedModel({**AGENTS, "cognitive": "Drink water [1].", failing: ModelTimeoutError("too slow")})
    board = Board()
    result = await answer(make_kit(model, people), bobs, board=board)
    assert result.degraded == [f"{failing}: too slow"]
    assert result.found
    assert {post.role for post in board.all()} >= set(AGENTS)


async def test_a_model_that_is_down_gives_a_marked_quotation(make_kit: MakeKit, people: People, bobs: Question) -> None:
    board = Board()
    model = ScriptedModel(down())
    result = await answer(make_kit(model, people), bobs, board=board)
    assert "2 to 3 liters" in result.text
    assert len(model.prompts) == result.calls == 6  # the agents side by side; nobody waits for the reply, too
    together = "draft, contextual retrieval, document ranking, user profile, live session, feedback: down"
    assert result.degraded == [together, "reply: the model answered none of the agents; quoted instead"]
    decisions = {post.content.about: post.content.choice for post in board.all(DecisionNote)}  # type: ignore[union-attr]
    assert decisions["reply"] == "quoted"


async def test_a_merged_call_that_fails_is_not_followed_by_another(make_kit: MakeKit) -> None:
    model = ScriptedModel(down())
    result = await answer(make_kit(model, budget_calls=3), WATER)
    assert len(model.prompts) == result.calls == 1
    assert result.degraded[0] == "all agents: down"


async def test_another_model_for_the_reply_is_asked_though_that_of_the_agents_is_down(make_kit: MakeKit) -> None:
    kit = make_kit(ScriptedModel("Drink 2 to 3 liters of water a day [1].", name="writer"))
    kit.agents_model = ScriptedModel(ModelTimeoutError("down"), name="agents")
    result = await answer(kit, WATER)
    assert result.text == "Drink 2 to 3 liters of water a day [1]."
    assert len(result.degraded) == 1


async def test_a_model_that_answers_no_agent_in_form_still_writes_the_reply(make_kit: MakeKit) -> None:
    model = ScriptedModel(lambda prompt, output: "no" if output else "Drink 2 to 3 liters of water a day [1].")
    result = await answer(make_kit(model), WATER)
    assert result.text == "Drink 2 to 3 liters of water a day [1]."


@pytest.mark.parametrize("failing", ["draft", "agents", "cognitive"])
async def test_where_it_is_strict_a_model_that_fails_is_an_error(make_kit: MakeKit, failing: str) -> None:
    script = {**AGENTS, "agents": TOGETHER, "cognitive": "Drink water [1].", failing: ModelTimeoutError("too slow")}
    calls = 3 if failing == "agents" else 10
    with pytest.raises(ModelTimeoutError, match="too slow"):
        await answer(make_kit(ScriptedModel(script), budget_calls=calls), WATER, strict=True)  # type: ignore[arg-type]


async def test_where_it_is_strict_a_model_that_overruns_the_budget_is_an_error(make_kit: MakeKit) -> None:
    with pytest.raises(ModelTimeoutError, match="time was over"):
        await answer(make_kit(scripted(delay=5), budget_seconds=0.2), WATER, strict=True)


async def test_where_it_is_strict_what_a_model_cannot_support_is_quoted(make_kit: MakeKit) -> None:
    assert "2 to 3 liters" in (await answer(make_kit(scripted("Bananas are berries.")), WATER, strict=True)).text


@pytest.mark.parametrize(
    ("person", "dial", "ask"), [(None, "auto", ""), ("ana", "off", ""), ("ana", "auto", "How old are you?")]
)
async def test_only_who_is_known_is_asked_back(
    make_kit: MakeKit, people: People, person: str | None, dial: Dial, ask: str
) -> None:
    question = Question(text=WATER.text, person=person, dial=dial)
    assert (await answer(make_kit(scripted(), people), question)).ask == ask


@pytest.mark.parametrize(
    "nonsense", ["", "   ", "{", '{"summary": ', "I cannot do that.", "[1][1][1]", "ha " * 10_000, "\ud83d", "null"]
)
async def test_malformed_model_output_never_raises(make_kit: MakeKit, nonsense: str) -> None:
    result = await answer(make_kit(ScriptedModel(lambda prompt, output: nonsense)), WATER)
    assert "2 to 3 liters" in result.text
    assert result.degraded


async def test_agents_that_overrun_the_budget_are_replaced(make_kit: MakeKit) -> None:
    async with asyncio.timeout(10):
        result = await answer(make_kit(scripted(delay=5), budget_seconds=0.2), WATER)
    assert "2 to 3 liters" in result.text
    assert any("time was over" in what for what in result.degraded)


async def test_a_reply_that_the_budgets_end_cut_off_was_paid_for(make_kit: MakeKit) -> None:
    class Stuck(ScriptedModel):
        async def stream(self, *asked: Any, **how: Any) -> AsyncGenerator[Any]:
            async for piece in super().stream(*asked, **how):
                yield piece
                if "[1]" in piece:
                    await asyncio.sleep(30)

    model, board = Stuck("Drink 2 to 3 liters of water a day [1]. More.", remote=True), Board()
    result = await answer(make_kit(model, budget_calls=1, budget_seconds=2), WATER, board=board)
    assert any("time was over" in what for what in result.degraded)
    assert result.calls == len(model.prompts) == 1
    assert result.tokens.prompt > 100
    assert result.tokens.completion > 5
    assert [post.role for post in board.all() if post.cost.elsewhere] == ["guard"]


async def test_a_reply_that_breaks_off_was_paid_for(make_kit: MakeKit) -> None:
    class Breaking(ScriptedModel):
        async def stream(self, *asked: Any, **how: Any) -> AsyncGenerator[Any]:
            async for piece in super().stream(*asked, **how):
                if not isinstance(piece, str):
                    raise down()
                yield piece

    model, board = Breaking("Drink 2 to 3 liters of water a day [1]. More.", remote=True), Board()
    result = await answer(make_kit(model, budget_calls=1), WATER, board=board)
    assert result.text == "Drink 2 to 3 liters of water a day [1]."
    assert result.calls == len(model.prompts) == 1
    assert result.tokens.prompt > 100
    assert result.tokens.completion > 5
    assert [(post.role, post.cost.dollars) for post in board.all() if post.cost.calls] == [("guard", None)]


async def test_a_question_as_long_as_may_be_is_answered_and_kept(make_kit: MakeKit, people: People) -> None:
    kit = make_kit(people=people)
    for filler in ("word ", '"', "\x01"):  # of which the last two are longer where they are stored
        text = (WATER.text + filler * LONGEST_QUESTION)[:LONGEST_QUESTION].strip()
        kept = await answer(kit, Question(text=text, person="ana"))
        assert (await people.answer(kept.id, "ana")).board


@pytest.mark.parametrize(
    ("calls", "plan", "made"), [(0, "numeric", 0), (1, "reply only", 1), (3, "merged", 2), (10, "separate", 7)]
)
async def test_the_budget_decides_and_the_board_says_so(
    make_kit: MakeKit, people: People, bobs: Question, calls: int, plan: str, made: int
) -> None:
    model = ScriptedModel({**AGENTS, "cognitive": "Drink water [1].", "agents": TOGETHER})  # type: ignore[dict-item]
    board = Board()
    result = await answer(make_kit(model, people, budget_calls=calls), bobs, board=board)
    decisions = [post.content for post in board.all(DecisionNote)]
    assert ("agents", plan) in [(d.about, d.choice) for d in decisions]  # type: ignore[union-attr]
    assert result.calls == made
    assert board.latest(SessionNote) is not None


async def test_a_merged_call_fills_all_six_notes(make_kit: MakeKit) -> None:
    board = Board()
    model = ScriptedModel({"agents": TOGETHER, "cognitive": "Drink water [1]."})
    await answer(make_kit(model, budget_calls=2), WATER, board=board)
    assert board.latest(DraftNote) == AGENTS["draft"]
    assert board.latest(FeedbackNote) == AGENTS["feedback"]


async def test_an_agent_left_out_posts_nothing(make_kit: MakeKit) -> None:
    board = Board()
    await answer(make_kit(scripted()), WATER, board=board, without={"feedback"})
    assert board.latest(FeedbackNote) is None
    assert any(p.content.choice == "skipped" for p in board.all(DecisionNote))  # type: ignore[union-attr]


async def test_a_statement_brings_passages_of_its_own_and_says_so(make_kit: MakeKit, people: People) -> None:
    await people.add("ben")
    await people.tell("ben", "I have poor sleep", sensitive=False)
    board = Board()
    result = await answer(
        make_kit(people=people), Question(text="Who wears shoes?", person="ben", dial="on"), board=board
    )
    lists = {note.name: note for post in board.all() if isinstance(note := post.content, PassagesNote)}
    assert lists["personal"].found[0].passage_id == "sleep#0"
    assert 0 < lists["personal"].weight <= result.strength == 0.5
    assert lists["plain"].found[0].passage_id == lists["fused"].found[0].passage_id == "walk#0"
    assert [used.text for used in result.used] == ["I have poor sleep"]


async def test_nothing_of_a_person_reaches_a_remote_model_unless_it_may(make_kit: MakeKit, people: People) -> None:
    await people.tell("ana", "I walk with a cane")  # nobody classified it
    for plan in (10, 3, 1):
        model = ScriptedModel({**AGENTS, "agents": TOGETHER, "cognitive": "x"}, remote=True)  # type: ignore[dict-item]
        board = Board()
        await answer(
            make_kit(model, people, budget_calls=plan), Question(text="What should I eat?", person="ana"), board=board
        )
        sent = " ".join(prompt.model_dump_json() for prompt in model.prompts)
        assert "pregnant" in sent
        assert "I have lactose intolerance" not in sent
        assert "cane" not in sent
        portrait = board.latest(PortraitNote)
        assert portrait is not None
        assert len(portrait.withheld) == 2


async def test_with_the_dial_off_no_statement_is_used_or_sent(make_kit: MakeKit, people: People) -> None:
    model = scripted()
    result = await answer(make_kit(model, people), Question(text="What should I eat?", person="ana", dial="off"))
    assert result.used == []
    assert all("pregnant" not in prompt.shared.split("<passage")[0] for prompt in model.prompts)


@pytest.mark.parametrize(
    ("text", "guess", "stated"),
    [
        ("I have gout. What is it?", "I have gout", "I have gout."),
        ("I have gout. What is it?", "I am a millionaire", None),
        ("I have gouty uncles. What is it?", "I have gout", None),
        ('My neighbour told me "I am allergic to nuts". What is gout?', "I am allergic to nuts", None),
        ("If I am pregnant, water matters. What is gout?", "I am pregnant", None),
        ("Is it true that I am pregnant?", "I am pregnant", None),
        ("I doubt that I am pregnant. What is gout?", "I am pregnant", "I doubt that I am pregnant."),
        (
            "I have asthma - severe, since birth. What is it?",
            "I have asthma, severe since birth",
            "I have asthma - severe, since birth.",
        ),
    ],
)
async def test_of_what_a_person_says_of_themselves_their_own_words_are_proposed(
    make_kit: MakeKit, people: People, text: str, guess: str, stated: str | None
) -> None:
    model = scripted(user_profile=ProfileNote(summary="", proposed=[guess]))
    await answer(make_kit(model, people), Question(text=text, person="ana"))
    proposed = [(one.text, one.cause) for one in await people.statements("ana", states=("proposed",))]
    assert proposed == ([(stated, text)] if stated else [])


async def test_the_board_is_kept_with_its_person_and_hidden_from_others(make_kit: MakeKit, people: People) -> None:
    await people.add("ben")
    board = Board()
    result = await answer(make_kit(people=people), Question(text="What is gout?", person="ana"), board=board)
    kept = await people.answer(result.id, "ana")
    assert Board.from_json(kept.board).all() == board.all()
    with pytest.raises(NotFoundError):
        await people.answer(result.id, "ben")


async def test_a_follow_up_is_searched_with_what_the_session_is_about(make_kit: MakeKit, people: People) -> None:
    kit = make_kit(people=people, passages=2)
    await answer(kit, Question(text="What is gout?", person="ana", session="s"))
    board = Board()
    await answer(kit, Question(text="What causes it?", person="ana", session="s"), board=board)
    queries = board.latest(QueriesNote)
    assert queries is not None
    assert queries.queries == ["What causes it? What is gout?"]


CARDS = [
    Passage(id="gout", title="Gout", text="Gout is treated with drugs against pain. It comes back."),
    Passage(id="signs", title="Signs of asthma", text="The symptoms of asthma are coughing and a tight chest."),
    Passage(id="care", title="Asthma care", text="Asthma is treated with inhalers that open the airways."),
]


async def test_a_follow_up_is_quoted_as_the_session_means_it(make_kit: MakeKit, people: People) -> None:
    kit = make_kit(people=people).given(CARDS)
    first = await answer(kit, Question(text="What are the symptoms of asthma?", person="ana", session="s"))
    then = await answer(kit, Question(text="How is it treated?", person="ana", session="s"))
    alone = await answer(kit, Question(text="How is it treated?", person="ana"))
    assert first.text.startswith("The symptoms of asthma are coughing and a tight chest [1].")
    assert "treated with inhalers" in then.text
    assert "Gout" in alone.text
    assert "Gout" not in then.text


@pytest.mark.parametrize("text", [" ", "x" * (LONGEST_QUESTION + 1)])
async def test_an_empty_or_immense_question_is_refused(make_kit: MakeKit, text: str) -> None:
    board = Board()
    with pytest.raises(UsageError, match="question"):
        await answer(make_kit(), Question(text=text), board=board)
    async with asyncio.timeout(5):  # whoever watches the board is let go
        assert [event async for event in board.subscribe()] == []


async def test_a_question_too_long_for_the_model_is_quoted_and_says_so(make_kit: MakeKit) -> None:
    result = await answer(make_kit(scripted()), Question(text="How much water should I drink? " * 640))
    assert any("too long for" in what for what in result.degraded)
    assert result.calls == 0


async def test_a_question_in_another_script_is_handled(make_kit: MakeKit) -> None:
    result = await answer(make_kit(), Question(text="我应该喝多少水？"))
    assert (result.found, result.text) == (False, NOT_FOUND)


async def test_an_unknown_person_is_named(make_kit: MakeKit, people: People) -> None:
    with pytest.raises(NotFoundError, match="nobody"):
        await answer(make_kit(people=people), Question(text="What is gout?", person="nobody"))


async def test_without_a_collection_it_says_how_to_make_one(make_kit: MakeKit) -> None:
    kit = make_kit()
    kit.retriever = None
    with pytest.raises(ConfigurationError, match="personable index"):
        await answer(kit, WATER)


async def test_given_passages_are_used_in_their_order(make_kit: MakeKit, passages: list[Passage]) -> None:
    board = Board()
    await answer(make_kit().given(passages[2:4]), Question(text="What is rich in iron?"), board=board)
    fused = [p.content for p in board.all(PassagesNote) if p.content.name == "fused"]  # type: ignore[union-attr]
    assert [found.passage_id for found in fused[0].found] == ["milk#0", "iron#0"]


async def test_a_quotation_with_bracketed_numbers_cites_only_its_own(make_kit: MakeKit) -> None:
    passage = Passage(id="w", text="The tower of Pisa was built in 1173 by masons.[12] It leans.", title="Pisa")
    result = await answer(make_kit().given([passage]), Question(text="When was the tower of Pisa built?"))
    assert "[12]" not in result.text
    assert "[1]" in result.text


async def test_with_the_dial_off_nothing_is_learnt_but_the_answer_can_be_explained(
    make_kit: MakeKit, people: People
) -> None:
    question = Question(text="I have gout. What is it?", person="ana", session="s", dial="off")
    result = await answer(make_kit(people=people), question)
    assert await people.statements("ana", states=("proposed",)) == []
    assert await people.events("ana") == []
    assert (await people.answer(result.id, "ana")).id == result.id


async def test_a_question_with_control_characters_is_answered_and_kept(make_kit: MakeKit, people: People) -> None:
    question = Question(text="I have gout\x00\x07. What is gout?", person="ana", session="s")
    result = await answer(make_kit(people=people), question)
    assert result.found
    assert (await people.turns("ana", "s"))[0].answer_id == result.id


async def test_what_was_asked_here_is_not_told_to_a_remote_model(make_kit: MakeKit, people: People) -> None:
    first = Question(text="I have a secret rash. What is gout?", person="ana", session="s")
    await answer(make_kit(people=people), first)
    model = ScriptedModel({**AGENTS, "cognitive": "x"}, remote=True)
    await answer(make_kit(model, people), Question(text="What causes it?", person="ana", session="s"))
    assert model.prompts
    assert all("secret rash" not in prompt.model_dump_json() for prompt in model.prompts)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("I am vegetarian, what should I eat?", ["I am vegetarian"]),
        ("Since I have asthma, can I run?", ["I have asthma"]),
        ("My knees are weak and what can I do?", ["My knees are weak"]),
        ("What can I take, I am allergic to penicillin?", ["I am allergic to penicillin"]),
        ("I have gout. I live in Rome. What helps?", ["I have gout.", "I live in Rome."]),
        ("What should I eat?", []),
        ("Am I diabetic, or is it something else?", []),
        ("I have what, exactly?", []),
        ("Is it true that my mother is ill?", []),
    ],
)
def test_what_is_said_in_a_question_is_told_from_what_is_asked(question: str, said: list[str]) -> None:
    assert said_of_self(question) == said


async def test_what_a_question_says_is_proposed_without_a_model(tmp_path: Path) -> None:
    passages = [Passage(id="p", text="Beans are a good source of protein.", document="d")]
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("zoe")
        kit = Kit(Settings(home=tmp_path), people=people).given(passages)
        await answer(kit, Question(text="I am vegetarian, what is a good source of protein?", person="zoe"))
        (learnt,) = await people.statements("zoe", states=("proposed",))
        await people.set("zoe", learned="off")
        await answer(kit, Question(text="I have asthma, what is a good source of protein?", person="zoe"))
        after = await people.statements("zoe", states=("proposed", "confirmed"))
    assert (learnt.text, learnt.source) == ("I am vegetarian", "inferred")
    assert learnt.cause == "I am vegetarian, what is a good source of protein?"
    assert after == [learnt]
