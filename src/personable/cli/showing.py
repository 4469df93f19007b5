"""How answers, boards and progress look on a terminal. What comes from documents is printed as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text as Styled
from rich.tree import Tree

from personable.board import Board, Post, Subscription, Text
from personable.notes import CandidatesNote, DecisionNote, GateNote, GuardNote, PassagesNote, PortraitNote
from personable.types import Answer, Citation, Used

# Escape codes, and the marks that turn the direction of writing, with which a text could show what it does not say.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def styled(text: str = "", style: str = "") -> Styled:
    """Text for the terminal; escape codes and the like of documents, models and people are taken out."""
    return Styled(_CONTROL.sub("", text), style)


def assembled(*parts: str | tuple[str, str]) -> Styled:
    """Several pieces, some styled, as one text."""
    return Styled.assemble(*(styled(part) if isinstance(part, str) else styled(*part) for part in parts))


@cache
def console() -> Console:
    """The terminal that everything is printed to."""
    return Console(soft_wrap=False)


async def watch(events: Subscription) -> None:
    """Show who is at work while an answer is made, then its text, sentence by sentence as it leaves the guard."""
    screen = console()
    status = screen.status("reading") if screen.is_terminal else None
    written = False
    if status:
        status.start()
    async for event in events:
        if isinstance(event, Text):
            if status:
                status.stop()
                status = None
            screen.print(styled(event.text), end="", soft_wrap=True)
            written = True
        elif status:
            status.update(f"{event.role}: {event.kind}")
    if status:
        status.stop()
    if written:
        screen.print()


def show_answer(answer: Answer) -> None:
    """Everything of an answer but its text, which was shown as it came."""
    screen = console()
    show_sources(answer)
    if answer.used:
        screen.print(styled("Because of what you said: ", "bold"), end="")
        screen.print(styled("; ".join(used.text for used in answer.used[:3])), soft_wrap=True)
    if answer.ask:
        screen.print(styled(f"To answer better: {answer.ask}", "cyan"))
    for suggestion in answer.suggestions:
        screen.print(styled(f"  next: {suggestion}", "dim"), soft_wrap=True)
    for what in answer.degraded:
        screen.print(styled(f"note: {what}", "yellow"), soft_wrap=True)
    if answer.model == "quote":
        screen.print(styled("quoted from your documents; connect a model for written answers: --model", "dim"))


def show_sources(answer: Answer) -> None:
    """The citations of an answer, one line each."""
    for line in _sources(answer.citations):
        console().print(line, soft_wrap=True)


def _sources(citations: Iterable[Citation]) -> list[Styled]:
    return [assembled((f"[{c.number}] ", "bold"), c.title or c.passage_id, (f"  {c.source}", "dim")) for c in citations]


def show_compared(left_name: str, left: Answer, right_name: str, right: Answer) -> None:
    """Two answers side by side."""
    screen = console()
    width = max(screen.width // 2 - 1, 30)
    sides = [_panel(name, answer, width) for name, answer in ((left_name, left), (right_name, right))]
    screen.print(Columns(sides, padding=(0, 0)) if screen.width >= 80 else Group(*sides))


def _panel(name: str, answer: Answer, width: int) -> Panel:
    parts: list[RenderableType] = [styled(answer.text), styled(), *_sources(answer.citations)]
    if answer.used:
        parts += [styled(), *(_because(used) for used in answer.used[:3])]
    return Panel(Group(*parts), title=styled(name, "bold"), title_align="left", width=width)


def _because(used: Used) -> Styled:
    return assembled(("because: ", "dim"), used.text, (f" ({used.score:.2f})", "dim"))


def show_trace(board: Board) -> None:
    """The board as a tree: who posted what, in order."""
    tree = Tree(styled(f"board {board.id}", "bold"))
    for post in board.all():
        branch = tree.add(_headline(post))
        for line in _lines(post):
            branch.add(styled(line))
    console().print(tree)


def _headline(post: Post) -> Styled:
    cost = post.cost
    spent = ""
    if cost.calls:
        read = f"{cost.tokens.prompt} read ({cost.tokens.cached} cached), {cost.tokens.completion} written"
        spent = f"  {cost.model} prompt {cost.prompt_hash}, {read}, {cost.seconds:.2f} s"
    score = f"  score {post.score:.2f}" if post.score is not None else ""
    return assembled((post.role, "bold cyan"), f" {post.kind}", (score + spent, "dim"))


def _lines(post: Post) -> list[str]:
    note: Any = post.content
    match note:
        case PassagesNote():
            found = [f"{n}. {f.title or f.passage_id} ({f.score:.3f})" for n, f in enumerate(note.found, 1)]
            return [f"{note.name}, weight {note.weight:.2f}: {note.query}", *found]
        case PortraitNote():
            used = [f"{one.text} ({one.score:.2f})" for one in note.statements]
            kept = [f"{one.text} ({one.score:.2f}; kept from the model)" for one in note.withheld]
            return used + kept + [f"interested in {name}" for name in note.interests] or ["nothing is known"]
        case CandidatesNote():
            return [f"{n}. {one.title} ({one.score:.3f})" for n, one in enumerate(note.found, 1)]
        case GateNote():
            evidence = ", ".join(f"{name} {value:.2f}" for name, value in note.evidence.items())
            return [f"{note.verdict}: {evidence}"]
        case GuardNote():
            return [f"{v.action} {v.passages or ''} {v.sentence} {v.reason}".strip() for v in note.verdicts]
        case DecisionNote():
            return [f"{note.about}: {note.choice}, since {note.why}"]
    fields = note.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True)
    return [f"{name}: {value}" for name, value in fields.items() if name != "answer" or isinstance(value, str)]
