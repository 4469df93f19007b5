"""Runs that record what models answer, and runs that replay a recording without any model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from personable.errors import UsageError
from personable.kit import Kit, open_kit
from personable.llm.base import LanguageModel
from personable.llm.recorded import RecordedModel, RecordingModel
from personable.settings import Settings


async def open_recording(settings: Settings, record: Path | None = None, replay: Path | None = None) -> Kit:
    """A kit without people whose models write to the file `record`, or answer from the file `replay` alone.

    A replay needs neither the model nor its key, and a request that was not recorded fails. Raises UsageError for both
    files, or for `quote`, which asks no model; DataError where `replay` is no recording; and what `open_kit` raises.
    """
    if record is None and replay is None:
        return await open_kit(settings, people=False)
    if record is not None and replay is not None:
        raise UsageError("record or replay, not both: a recording already knows what it is asked again")
    if settings.model == "quote":
        raise UsageError("quote asks no model, so there is nothing to record or replay: name one with --model")
    if replay is not None:
        kit = await open_kit(settings.model_copy(update={"model": "quote", "agents_model": None}), people=False)
        return _with_models(kit, settings, lambda name, _: RecordedModel(replay, name))
    kit = await open_kit(settings, people=False)
    return _with_models(kit, settings, lambda _, model: RecordingModel(_there(model), Path(str(record))))


def _with_models(kit: Kit, settings: Settings, make: Callable[[str, LanguageModel | None], LanguageModel]) -> Kit:
    agents, named = kit.agents_model, settings.agents_model
    shared = agents is kit.model and named in (None, settings.model)
    kit.model = make(settings.model, kit.model)
    kit.agents_model = kit.model if shared else make(named or settings.model, agents)
    kit.settings = settings
    return kit


def _there(model: LanguageModel | None) -> LanguageModel:
    if model is None:
        raise UsageError("quote asks no model, so there is nothing to record: name one for every role")
    return model
