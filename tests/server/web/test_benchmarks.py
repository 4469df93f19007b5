"""Benchmarks: reports are shown so that nothing in them runs, and nothing outside their folder is."""

from pathlib import Path

from tests.server.conftest import Start
from tests.server.web.conftest import signed_in


async def test_without_a_report_it_says_how_to_make_one(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    assert "personable report runs" in (await ana.get("/benchmarks")).text


async def test_a_report_is_shown_in_a_sandbox(start: Start, tmp_path: Path) -> None:
    reports = tmp_path / "home" / "reports"
    (reports / "nq").mkdir(parents=True)
    (reports / "nq" / "report.html").write_text("<script>alert(1)</script><h1>Natural Questions</h1>", "utf-8")
    (tmp_path / "secret.html").write_text("secret", "utf-8")
    (reports / "linked.html").symlink_to(tmp_path / "secret.html")
    ana = await signed_in(await start(), "ana")
    shown = (await ana.get("/benchmarks")).text
    assert "nq/report.html" in shown
    assert "linked" not in shown
    assert "<script>alert" not in shown
    assert 'sandbox src="/benchmarks/report?name=nq%2Freport.html"' in shown
    report = await ana.get("/benchmarks/report", params={"name": "nq/report.html"})
    assert "Natural Questions" in report.text
    policy = report.headers["content-security-policy"]
    assert "sandbox" in policy.split("; ")
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    for name in ("../secret.html", "linked.html", "nq/../../people.db", str(tmp_path / "secret.html")):
        assert (await ana.get("/benchmarks/report", params={"name": name})).status_code == 404


async def test_reports_need_a_login_and_may_stand_elsewhere(start: Start, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ratings.html").write_text("rated", "utf-8")
    running = await start(server_reports=tmp_path / "mine")
    nobody = await running.client(None)
    assert (await nobody.get("/benchmarks/report?name=ratings.html")).status_code == 303
    assert (await (await signed_in(running, "bob")).get("/benchmarks/report?name=ratings.html")).text == "rated"
