"""What holds for every request: other sites' pages, documents of the interface, unknown paths."""

from tests.server.conftest import Start

ELSEWHERE = {"Origin": "https://elsewhere.example"}


async def test_pages_of_other_sites_may_not_call_unless_they_are_named(start: Start) -> None:
    builder = await (await start()).client("builder")
    assert "access-control-allow-origin" not in (await builder.get("/healthz", headers=ELSEWHERE)).headers


async def test_pages_of_named_sites_may_call(start: Start) -> None:
    builder = await (await start(server_origins="https://elsewhere.example, https://two.example")).client("builder")
    allowed = (await builder.get("/healthz", headers=ELSEWHERE)).headers
    assert allowed["access-control-allow-origin"] == "https://elsewhere.example"
    assert {"Location", "X-Left-Out", "X-Request-ID"} <= set(allowed["access-control-expose-headers"].split(", "))
    other = {"Origin": "https://other.example"}
    assert "access-control-allow-origin" not in (await builder.get("/healthz", headers=other)).headers


async def test_nothing_is_shown_that_loads_from_another_host(start: Start) -> None:
    nobody = await (await start()).client(None)
    for path in ("/docs", "/redoc", "/nowhere"):
        missing = await nobody.get(path)
        assert missing.status_code == 404
        assert missing.json()["status"] == 404
    document = (await nobody.get("/openapi.json")).json()
    assert document["components"]["schemas"]["Problem"]["properties"]["detail"]
    assert (await nobody.delete("/healthz")).status_code == 405


async def test_a_path_of_another_script_or_broken_utf8_is_not_found(start: Start) -> None:
    builder = await (await start()).client("builder")
    for path in ("/v1/%ff%fe", "/v1/שרה", "/v1/%00", "/v1/..%2f..%2fetc%2fpasswd"):
        assert (await builder.get(path)).status_code == 404
