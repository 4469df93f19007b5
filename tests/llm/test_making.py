"""Names of models: what they mean, what is missing, what leaves this machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from personable.errors import ConfigurationError, UsageError
from personable.llm import make_model
from personable.llm.making import is_loopback

HERE = "http://127.0.0.1:8000/v1"
VARIABLES = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "OLLAMA_BASE_URL", "OLLAMA_API_KEY"]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["", "quote", "openai:", "openai: ", ":x"])
def test_something_that_is_no_name_says_how_names_look(name: str):
    with pytest.raises(UsageError, match="provider:NAME"):
        make_model(name)


def test_an_unknown_provider_is_named():
    with pytest.raises(ConfigurationError, match="'nobody:x'"):
        make_model("nobody:x")


@pytest.mark.parametrize(("name", "variable"), [("openai:x", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")])
def test_a_missing_key_names_its_variable(name: str, variable: str):
    with pytest.raises(ConfigurationError, match=f"set {variable} or PERSONABLE_MODEL_KEY"):
        make_model(name)


def test_a_server_without_address_is_said():
    with pytest.raises(ConfigurationError, match="PERSONABLE_MODEL_URL"):
        make_model("server:x")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/", "http://", "nonsense"])
def test_an_address_that_is_none_is_said(url: str):
    with pytest.raises(ConfigurationError, match="no address of a model server"):
        make_model("server:x", url=url)


def test_a_name_is_kept_as_it_was_given():
    assert make_model("server:org/model:tag", url=HERE).name == "server:org/model:tag"


@pytest.mark.parametrize(
    ("name", "arguments", "remote"),
    [
        ("openai:x", {"key": "k"}, True),
        ("openai:x", {"key": "k", "trusted": True}, False),
        ("openai:x", {"url": HERE}, False),
        ("server:x", {"url": HERE}, False),
        ("server:x", {"url": "http://[::1]:8000/v1"}, False),
        ("server:x", {"url": "http://10.0.0.7:8000/v1"}, True),
        ("server:x", {"url": "https://127.0.0.1.example.org/v1"}, True),
        ("ollama:x", {}, False),
        ("ollama:x", {"url": "http://gpu.example.org/v1"}, True),
        ("ollama:gpt-oss:120b-cloud", {}, True),
    ],
)
def test_what_leaves_this_machine_is_remote(name: str, arguments: dict[str, object], remote: bool):
    assert make_model(name, **arguments).remote is remote


@pytest.mark.parametrize("address", ["http://localhost/v1", "http://127.9.9.9/v1", "http://[::1]/v1"])
def test_loopback_addresses(address: str):
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["", "x", "http://localhost.example.org", "http://0.0.0.0", "http://2130706433"])
def test_other_addresses(address: str):
    assert not is_loopback(address)


def test_an_openai_key_is_not_sent_to_another_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    model = make_model("openai:x", url=HERE)
    assert model._provider.connect().client.api_key != "sk-of-openai"


@pytest.mark.parametrize("content", [None, b"", b"GG", b"PK\x03\x04 not a model"])
def test_a_file_that_is_no_model_is_named(tmp_path: Path, content: bytes | None):
    path = tmp_path / "model ☕.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="model ☕"):
        make_model(f"llamacpp:{path}")


def test_a_folder_is_no_model_file(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="cannot read"):
        make_model(f"llamacpp:{tmp_path}")


def test_a_missing_name_is_a_usage_error():
    with pytest.raises(UsageError):
        make_model("llamacpp:")


def test_importing_is_light():
    heavy = "pydantic_ai openai xllamacpp tenacity json_repair anthropic httpx2 numpy onnxruntime"
    code = f"import sys, personable.llm; print([m for m in {heavy.split()} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
