"""Access to language models: `make_model` by name, and scripted, recorded and fallback models."""

from personable.llm.base import LanguageModel, Prompt, Reply
from personable.llm.fallback import FallbackModel
from personable.llm.making import make_model
from personable.llm.recorded import RecordedModel, RecordingModel
from personable.llm.scripted import ScriptedModel

__all__ = [
    "FallbackModel",
    "LanguageModel",
    "Prompt",
    "RecordedModel",
    "RecordingModel",
    "Reply",
    "ScriptedModel",
    "make_model",
]
