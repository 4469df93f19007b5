"""The store over SQLite: the contract, and what only a file can get wrong."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from personable.errors import ConfigurationError, DataError
from personable.people import database, schema
from personable.people.store import People
from tests.contracts.keys import KeysContract
from tests.contracts.people import PeopleContract
from tests.contracts.rights import RightsContract, everything
from tests.contracts.statements import StatementsContract
from tests.people.writing import assert_killed_writer_leaves_a_whole_store, assert_nothing_lost
from tests.stores import new_people


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[People]:
    async with await new_people(tmp_path / "people.db") as opened:
        yield opened


class TestSqlitePeople(PeopleContract, StatementsContract, RightsContract, KeysContract):
    pass


@pytest.mark.slow
async def test_processes_that_make_and_fill_one_store_at_once_lose_nothing(tmp_path: Path) -> None:
    await assert_nothing_lost(tmp_path / "people.db")


@pytest.mark.slow
async def test_a_killed_writer_leaves_a_whole_store(tmp_path: Path) -> None:
    await assert_killed_writer_leaves_a_whole_store(tmp_path / "people.db")


async def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "some folder" / "people 👩‍🔬.db"
    async with await People.open(path) as people:
        await people.add("ana")
        await people.tell("ana", "I like tea")
        before = await everything(people)
    async with await People.open(f"sqlite:///{path}") as people:
        assert await everything(people) == before


@pytest.mark.slow
def test_opening_a_store_at_the_newest_schema_does_not_load_alembic(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    code = (
        "import asyncio, sys\nfrom personable.people.store import People\n"
        "async def main():\n    await (await People.open(sys.argv[1])).close()\n"
        "asyncio.run(main())\nprint('alembic' in sys.modules)"
    )
    for loaded in ("True", "False"):
        run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == loaded


@pytest.mark.slow
def test_values_and_portrait_do_not_load_the_database_library() -> None:
    code = "import sys, personable.people.portrait; print('sqlalchemy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]


async def test_the_migrations_make_the_tables_of_the_schema(people: People, tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'people.db'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        for table in schema.metadata.tables.values():
            made = {tuple(key["constrained_columns"]) for key in inspect(connection).get_foreign_keys(table.name)}
            assert made == {tuple(key.column_keys) for key in table.foreign_key_constraints}
    engine.dispose()


async def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    await (await People.open(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match=r"'9999'.*upgrade Personable"):
        await People.open(path)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    path.write_text("not a database at all, but somebody's notes " * 50)
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"people\.db failed: file is not a database; name another file"):
        await People.open(path)
    assert path.read_bytes() == before


async def test_a_place_where_no_file_can_be_made_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"/etc/passwd cannot be used: .*name another"):
        await People.open("/etc/passwd/people.db")


async def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    threads = threading.active_count()
    with pytest.raises(ConfigurationError, match=rf"{tmp_path} is no file"):
        await People.open(tmp_path)
    assert threading.active_count() == threads


@pytest.mark.parametrize("where", ["mysql://host/db", "sqlite://", "sqlite:///:memory:", "://", "nonsense://x"])
async def test_an_address_that_makes_no_sense_is_refused(where: str) -> None:
    with pytest.raises(ConfigurationError):
        await People.open(where)


async def test_only_the_owner_may_read_the_file(people: People, tmp_path: Path) -> None:
    await people.add("ana")
    for file in tmp_path.glob("people.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.slow
async def test_nothing_erased_or_forgotten_stays_in_the_files(people: People, tmp_path: Path) -> None:
    await people.add("ana")
    await people.add("bob")
    await people.tell("bob", "I stay here")
    for n in range(200):
        await people.tell("ana", f"canary-{n} " + "x" * 500)
    await people.erase("ana")
    files = b"".join(file.read_bytes() for file in tmp_path.glob("people.db*"))
    assert b"canary-" not in files
    assert b"I stay here" in files


async def test_a_store_of_the_first_version_is_upgraded_and_keeps_everything(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'people.db'}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO people (id, name, dial, created) VALUES ('ana', 'Ana', 'on', '2026-01-01 12:00:00.000000')"
            )
        )
    engine.dispose()
    async with await People.open(tmp_path / "people.db") as people:
        kept = await people.get("ana")
        assert (kept.name, kept.dial, kept.learned, kept.share_sensitive) == ("Ana", "on", "ask", False)
        assert (await people.tell("ana", "I like tea")).text == "I like tea"
