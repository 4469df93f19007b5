"""Every kind of language model passes the one contract."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from personable.errors import ModelOutputError
from personable.evaluation.working import OneAtATime
from personable.llm import FallbackModel, LanguageModel, RecordedModel, RecordingModel, ScriptedModel, make_model
from personable.llm.counted import Counted
from tests.contracts.model import PROMPT, ModelContract, Need, failing
from tests.llm.fake_server import fake_server, says


def scripted(texts: Sequence[str]) -> ScriptedModel:
    left = list(texts)
    return ScriptedModel(lambda prompt, output: left.pop(0) if len(left) > 1 else left[0])


class TestScripted(ModelContract):
    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        yield scripted(texts)


class TestProvider(ModelContract):
    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        async with fake_server(*map(says, texts)) as server:
            model = make_model("server:fake", url=server.url, timeout=10)
            yield model
            await model.close()


class TestFallback(ModelContract):
    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        yield FallbackModel(ScriptedModel(failing()), scripted(texts))


class TestOneAtATime(ModelContract):
    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        yield OneAtATime(scripted(texts))


class TestCounted(ModelContract):
    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        yield Counted(scripted(texts))


class TestRecording(ModelContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "tape.jsonl"

    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        yield RecordingModel(scripted(texts), self.path)


class TestReplayed(TestRecording):
    """Records what the contract asks, text and typed, then answers without the model."""

    @asynccontextmanager
    async def model(self, texts: Sequence[str]) -> AsyncIterator[LanguageModel]:
        for output in (None, Need):
            with suppress(ModelOutputError):
                await RecordingModel(scripted(texts), self.path).write(PROMPT, output)
        yield RecordedModel(self.path, "scripted")
