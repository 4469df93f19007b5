import io

from rich.console import Console

from personable.cli.showing import assembled, styled


def test_escape_codes_and_markup_of_documents_are_printed_as_plain_text() -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system=None).print(
        styled("\x1b[31mred\x07 [bold]x[/] \x9b2J\u202e"), assembled(("\x1b]0;title\x07", "bold"), " [red]y")
    )
    assert not {"\x1b", "\u202e"} & set(out.getvalue())
    assert "[bold]x[/]" in out.getvalue()
    assert "[red]y" in out.getvalue()
