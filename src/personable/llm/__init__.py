"""Access to language models: `make_model` by name, and scripted, recorded and fallback models."""

from personable.llm.base import LanguageModel, Prompt, Reply
from personable.llm.making import make_model
from personable.llm.scripted import ScriptedModel

__all__ = ["LanguageModel", "Prompt", "Reply", "ScriptedModel", "make_model"]
