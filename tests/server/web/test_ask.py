"""Ask without a script, and what is shown of an answer."""

from personable.board import Board
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.people.events import Kept, now
from personable.server.web.exchanges import pieces
from personable.types import Answer, Citation
from tests.server.conftest import Start, events
from tests.server.web.conftest import signed_in

ASKED = {"question": "How many liters of water a day against kidney stones?", "in": "notes"}
SCRIPT = "<script>alert(1)</script>"


async def test_without_a_script_a_form_gives_the_answer_with_its_citations(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    shown = (await ana.post("/ask", data=ASKED)).text
    assert "Drink 2 to 3 liters of water a day" in shown
    url = shown.split('class="cite" href="')[1].split('"')[0].replace("&amp;", "&")
    opened = (await ana.get(url)).text
    assert '<mark id="quoted">Drink 2 to 3 liters of water a day.</mark>' in opened


async def test_a_citation_opens_after_its_answer_was_forgotten_and_says_where_its_passage_is_gone(start: Start) -> None:
    running = await start()
    ana, bob = await signed_in(running, "ana"), await signed_in(running, "bob")
    shown = (await ana.post("/ask", data=ASKED)).text
    url = shown.split('class="cite" href="')[1].split('"')[0].replace("&amp;", "&")
    assert (await bob.post(url)).status_code == 200  # to whom the answer was never given
    gone = await ana.post("/passage?in=notes&id=none%230")
    assert gone.status_code == 404
    assert "not there any more" in gone.text
    assert "/collections/notes" not in gone.text  # where the server keeps it


async def test_a_conversation_is_shown_again_to_its_person_alone(start: Start) -> None:
    running = await start()
    ana, bob = await signed_in(running, "ana"), await signed_in(running, "bob")
    shown = (await ana.post("/ask", data=ASKED)).text
    session = shown.split('name="session" value="')[1].split('"')[0]
    again = f"/ask?in=notes&session={session}"
    assert ASKED["question"] in (await ana.get(again)).text
    assert ASKED["question"] not in (await bob.get(again)).text
    assert "Go on with your last conversation" in (await ana.get("/ask")).text
    assert "Go on" not in (await bob.get("/ask")).text


async def test_a_turn_that_another_version_stored_is_shown_as_its_text(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    session = await running.people.open_session("ana")
    for id, board in (("old", "{}"), ("none", Board().to_json())):
        kept = Kept(id=id, person="ana", session=session, answer="{}", board=board, created=now())
        await running.people.keep_exchange(kept, f"Is {id} good?", f"Very {id}.")
    shown = await ana.get(f"/ask?in=notes&session={session}")
    assert shown.status_code == 200
    assert all(text in shown.text for text in ("Is old good?", "Very old.", "Is none good?", "Very none."))


async def test_a_stream_tells_its_steps_in_words_and_ends_with_the_answer(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    heard = events((await ana.post("/ask", data=ASKED, headers={"Accept": "text/event-stream"})).text)
    assert heard[0] == ("step", "Read your question.")
    assert [kind for kind, _ in heard].count("final") == 1
    said = "".join(value for kind, value in heard if kind == "text")
    assert "2 to 3 liters" in said
    assert 'class="cite"' in heard[-1][1]["html"]
    assert heard[-1][1]["session"]


async def test_a_stream_that_fails_ends_with_what_went_wrong(start: Start) -> None:
    def fail(prompt: Prompt, output: object) -> str:
        raise RuntimeError("zz")

    ana = await signed_in(await start(ScriptedModel(fail)), "ana")
    stream = {"Accept": "text/event-stream"}
    failed = await ana.post("/ask", data=ASKED, headers=stream)
    assert 'class="problem"' in events(failed.text)[-1][1]["html"]
    refused = await ana.post("/ask", data=ASKED | {"in": "nowhere"}, headers=stream)
    assert refused.status_code == 404
    long = await ana.post("/ask", data=ASKED | {"question": "x" * 150_000}, headers=stream)
    assert (long.status_code, 'class="problem"' in long.text) == (422, True)


async def test_the_plain_answer_stands_beside_and_is_not_kept(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    shown = (await ana.post("/ask", data=ASKED | {"compare": "true"})).text
    assert "Plain, without you" in shown
    assert shown.count("Drink 2 to 3 liters of water a day") >= 2
    held = await running.people.export("ana")
    assert len(held["answers"]) == len(held["turns"]) == 1


async def test_script_in_questions_names_and_statements_is_shown_as_text(start: Start) -> None:
    running = await start()
    await running.people.set("ana", name=SCRIPT)
    await running.people.tell("ana", f"I like {SCRIPT}", sensitive=False)
    ana, builder = await signed_in(running, "ana"), await signed_in(running, "builder")
    await builder.post("/looking-for", data={"person": "ana"})
    pages = [
        await ana.post("/ask", data=ASKED | {"question": SCRIPT}),
        await ana.get("/you"),
        await builder.get("/ask"),
    ]
    refused = await ana.get("/passage", params={"in": "notes", "id": SCRIPT})
    assert SCRIPT not in refused.text
    for shown in pages:
        assert SCRIPT not in shown.text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown.text


async def test_feedback_counts_for_the_answers_person_alone(start: Start) -> None:
    running = await start()
    ana, bob = await signed_in(running, "ana"), await signed_in(running, "bob")
    await ana.post("/ask", data=ASKED)
    id = (await running.people.export("ana"))["answers"][0]["id"]
    part = {"HX-Request": "true"}
    up = {"kind": "thumbs", "value": "1"}
    assert "Thank you" in (await ana.post(f"/ask/answers/{id}/feedback", data=up, headers=part)).text
    assert (await bob.post(f"/ask/answers/{id}/feedback", data=up, headers=part)).status_code == 404
    click = {"in": "notes", "id": "stones#0", "answer": id, "number": "1"}
    assert (await ana.post("/passage", params=click)).status_code == 200
    assert [one.kind for one in await running.people.events("ana")].count("click") == 1
    assert not [one for one in await running.people.events("bob") if one.kind == "thumbs"]


def test_only_numbers_of_citations_become_links() -> None:
    cited = Citation(number=1, passage_id="a#0", start=3, end=9)
    answer = Answer(id="x", question="q", text="See [1] and [7] of <b>.", citations=[cited], person="ana")
    found = pieces(answer, "notes", kept=True)
    assert [one.text for one in found] == ["See ", "[1]", " and [7] of <b>."]
    assert [bool(one.url) for one in found] == [False, True, False]
    assert "answer=x" in found[1].url
    assert "answer" not in pieces(answer, "notes", kept=False)[1].url
