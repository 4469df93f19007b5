"""The Dockerfile and the compose file: what a linter does not know about this program."""

from __future__ import annotations

import re
import tomllib
from inspect import signature
from pathlib import Path

import pytest

from personable.settings import PREFIX, Settings

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")


def steps(name: str) -> list[str]:
    """What each instruction `name` of the last stage says."""
    joined = re.sub(r"\\\n\s*", "", DOCKERFILE)
    last = joined[joined.rindex("\nFROM ") :]
    return re.findall(rf"^\s*{name} (.+)$", last, re.MULTILINE)


def test_the_image_runs_the_server_as_somebody_without_rights() -> None:
    (user,) = steps("USER")
    assert user.isdigit()
    assert int(user) > 0
    assert steps("ENTRYPOINT") == ['["personable"]']
    assert steps("CMD")[-1] == '["serve", "--host", "0.0.0.0"]'
    assert [copied for copied in steps("COPY") if not copied.startswith("--from=build")] == []


def test_the_image_is_healthy_where_the_server_says_so() -> None:
    pytest.importorskip("fastapi")
    from personable.cli.serving import serve
    from personable.server.routes.system import router

    (port,) = steps("EXPOSE")
    (asked,) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", DOCKERFILE)
    assert asked[0] == port
    assert asked[1] in {route.path for route in router.routes}  # type: ignore[attr-defined]
    assert int(port) == signature(serve).parameters["port"].default


def test_what_is_installed_is_pinned_by_digest_and_comes_from_no_named_place() -> None:
    assert "--require-hashes" in DOCKERFILE
    pinned = (ROOT / "constraints/server.txt").read_text(encoding="utf-8")
    assert "://" not in pinned
    packages = re.findall(r"^[a-z0-9][^ ]*==[^ ]+.*\\\n    --hash=sha256:[0-9a-f]{64}", pinned, re.MULTILINE)
    assert len(packages) == len(re.findall(r"^\S+==", pinned, re.MULTILINE)) > 100
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra in ("server", "postgres", "telemetry", "readers"):
        for wanted in extras[extra]:
            name = re.split(r"[\[<>=]", wanted)[0]
            assert f"\n{name}==" in pinned, f"{name}: make constraints"


def test_no_secret_is_written_down() -> None:
    for text in (DOCKERFILE, COMPOSE):
        assert re.findall(r"(?im)^\s*\w*(?:password|key|secret|token)\w* *[:=] *(?!\$\{\w+:\?)\S+", text) == []
    assert COMPOSE.count("${PERSONABLE_DATABASE_PASSWORD:?") == 2


def test_compose_names_settings_that_there_are() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    named = set(re.findall(rf"^\s+({PREFIX}\w+):", COMPOSE, re.MULTILINE))
    assert len(named) >= 3
    assert named <= known


def test_compose_waits_longer_than_the_server_takes_to_stop() -> None:
    (grace, _) = re.findall(r"stop_grace_period: (\d+)s", COMPOSE)
    assert int(grace) > Settings.model_fields["server_grace_seconds"].default
