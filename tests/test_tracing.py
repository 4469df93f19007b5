"""Spans: what is in them, how they nest, and that nothing that anybody asked, said or read is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from personable import tracing
from personable.errors import ModelError, UsageError
from personable.kit import Kit, open_model
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.llm.traced import TracedModel
from personable.people.store import People
from personable.pipelines.answer import answer
from personable.pipelines.certify import certify
from personable.pipelines.converse import converse
from personable.pipelines.recommend import recommend
from personable.settings import Settings
from personable.types import Question, Wish
from tests.pipelines.test_answer import AGENTS, MakeKit

pytestmark = pytest.mark.slow

QUESTION = Question(text="How much water should I drink, zzasked?", person="zzana", session="zzsession")
SAID = "I work with zzsaid lathes and drink water"
WRITTEN = "Drink 2 to 3 liters of water a day [1]. zzwritten"
PLANTED = ("zz", "liters", "lathes", "thirsty", "Kidney")
"""What was asked, said, read and written; who asked."""

Finished = Callable[[], list[Any]]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Finished]:
    """Call it for the finished spans, in the order of their end."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield lambda: list(kept.get_finished_spans())
    provider.shutdown()


@pytest.fixture
async def kit(make_kit: MakeKit, people: People) -> Kit:
    await people.add("zzana")
    await people.tell("zzana", SAID, sensitive=False)
    model = ScriptedModel({**AGENTS, "cognitive": WRITTEN}, name="server:org/writer")  # type: ignore[dict-item]
    kit = make_kit(TracedModel(model), people)
    kit.store = None
    return kit


async def test_model_calls_stand_under_agents_and_agents_under_the_pipeline(kit: Kit, spans: Finished) -> None:
    result = await answer(kit, QUESTION)
    found = spans()
    by_id = {span.context.span_id: span for span in found}
    (top,) = [span for span in found if span.parent is None]
    assert (top.name, dict(top.attributes)) == (
        "answer",
        {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": "answer"},
    )
    calls = [span for span in found if span.name == "chat org/writer"]
    assert len(calls) == result.calls > 5
    for call in calls:
        parent = by_id[call.parent.span_id]
        asker = call.attributes["gen_ai.agent.name"]
        assert parent.name == ("answer" if call.attributes["gen_ai.request.stream"] else f"invoke_agent {asker}")
        assert parent is top or by_id[parent.parent.span_id] is top
    assert {span.context.trace_id for span in found} == {top.context.trace_id}


async def test_a_model_call_tells_model_and_tokens(kit: Kit, spans: Finished) -> None:
    result = await answer(kit, QUESTION)
    calls = [span.attributes for span in spans() if span.attributes["gen_ai.operation.name"] == "chat"]
    assert {call["gen_ai.provider.name"] for call in calls} == {"server"}
    assert sum(call["gen_ai.usage.input_tokens"] for call in calls) == result.tokens.prompt > 0
    assert sum(call["gen_ai.usage.output_tokens"] for call in calls) == result.tokens.completion > 0
    assert {call["gen_ai.usage.cache_read.input_tokens"] for call in calls} == {0}
    (streamed,) = [call for call in calls if call["gen_ai.request.stream"]]
    assert streamed["gen_ai.response.time_to_first_chunk"] >= 0


async def test_a_search_tells_how_many_it_wanted_and_found(kit: Kit, spans: Finished) -> None:
    await kit.search("water", 3)
    (span,) = spans()
    assert span.name == "retrieval"
    assert span.attributes["gen_ai.retrieval.top_k"] == 3
    assert span.attributes["personable.hits"] == len(await kit.search("water", 3)) > 0


async def test_a_stand_in_is_a_span_of_its_own_kind(make_kit: MakeKit, spans: Finished) -> None:
    await answer(make_kit(), Question(text="How much water should I drink?"))
    agents = [span.attributes for span in spans() if span.attributes["gen_ai.operation.name"] == "invoke_agent"]
    assert {one["personable.by"] for one in agents} == {"numbers"}


async def test_no_text_of_anybody_is_in_a_span(kit: Kit, spans: Finished) -> None:
    await answer(kit, QUESTION)
    await converse(kit, QUESTION)
    assert len(spans()) > 20
    written = "".join(span.to_json() for span in spans())
    assert [plant for plant in PLANTED if plant in written] == []


async def test_of_an_error_only_the_type_is_kept(make_kit: MakeKit, spans: Finished) -> None:
    model = TracedModel(ScriptedModel(ModelError("zz: you asked about kidney stones")))
    with pytest.raises(ModelError):
        await answer(make_kit(model), Question(text="How much water should I drink?"), strict=True)
    failed = [span for span in spans() if "error.type" in span.attributes]
    assert {span.attributes["error.type"] for span in failed} >= {"ModelError"}
    assert {span.name.split()[0] for span in failed} == {"answer", "invoke_agent", "chat"}
    assert {span.status.status_code.name for span in failed} == {"ERROR"}
    assert "zz" not in "".join(span.to_json() for span in spans())


@pytest.mark.parametrize("name", ["answer", "converse", "recommend", "certify"])
async def test_every_pipeline_is_a_span_also_when_it_refuses(name: str, make_kit: MakeKit, spans: Finished) -> None:
    none: Any = None
    runs = {
        "answer": lambda: answer(make_kit(), Question(text=" ")),
        "converse": lambda: converse(make_kit(), Question(text=" ")),
        "recommend": lambda: recommend(make_kit(), none, Wish(person="ana", query="x" * 3000)),
        "certify": lambda: certify(make_kit(), none, Question(text="x"), method=none),
    }
    with pytest.raises(UsageError):
        await runs[name]()
    (span,) = spans()
    assert (span.name, span.attributes["error.type"]) == (name, "UsageError")


async def test_a_stream_that_is_left_ends_its_span_without_an_error(spans: Finished) -> None:
    model = TracedModel(ScriptedModel("one two three"))
    async with aclosing(model.stream(Prompt(system="", task="count"))) as pieces:
        assert await anext(pieces) == "one "
        assert spans() == []
        with tracing.retrieval(1):
            pass
    search, call = spans()
    assert search.parent is None, "what a stream yields to is not part of it"
    assert "error.type" not in call.attributes


async def test_questions_side_by_side_have_a_trace_each(kit: Kit, spans: Finished) -> None:
    await asyncio.gather(*(answer(kit, QUESTION) for _ in range(4)))
    tops = [span for span in spans() if span.parent is None]
    assert [span.name for span in tops] == ["answer"] * 4
    assert len({span.context.trace_id for span in tops}) == 4


def test_a_model_file_is_named_without_its_folder(spans: Finished) -> None:
    with tracing.model_call("llamacpp:/home/zzana/models/small.gguf", "draft"):
        pass
    (span,) = spans()
    assert span.name == "chat small.gguf"
    assert "zzana" not in span.to_json()


def test_the_kit_traces_the_models_that_it_opens(tmp_path: Any) -> None:
    model = open_model(Settings(home=tmp_path, model="server:x", model_url="http://127.0.0.1:1/v1"))
    assert isinstance(model, TracedModel)
    assert model.name == "server:x"


def test_without_an_sdk_nothing_of_it_is_imported() -> None:
    code = (
        "import sys\nfrom personable import tracing\nfrom personable.pipelines import answer\n"
        "with tracing.agent('draft', 'numbers') as span: span.set({'a': 1})\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')], 'imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
