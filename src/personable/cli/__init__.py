"""The command line: parse, call, print. Every command has `--json`; errors go to standard error.

Exit status: 0 done, 1 unexpected, 2 usage, 3 configuration, 4 data, 5 model, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys

import typer

from personable.cli import (
    answers,
    certifying,
    chatting,
    collections,
    evaluations,
    explaining,
    feedback,
    people,
    rating,
    recommending,
    serving,
    speaking,
    statements,
    system,
)
from personable.errors import PersonableError

app = typer.Typer(
    name="personable",
    help="Answers for a particular person from your documents, with citations and a trace.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (
    answers,
    chatting,
    explaining,
    recommending,
    certifying,
    collections,
    people,
    rating,
    statements,
    feedback,
    evaluations,
    serving,
    speaking,
    system,
):
    module.add_to(app)


def main() -> None:
    """Run the command line; what goes wrong becomes one line on standard error and an exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal lacks must not stop it
    try:
        app()
    except PersonableError as error:
        print(f"personable: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains when it exits
        sys.exit(1)
    except Exception as error:
        if os.environ.get("PERSONABLE_DEBUG"):
            raise
        print(
            f"personable: unexpected {type(error).__name__}: {error} (PERSONABLE_DEBUG=1 shows where)", file=sys.stderr
        )
        sys.exit(1)
