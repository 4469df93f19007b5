import itertools

from hypothesis import given
from hypothesis import strategies as st

from personable.text import sentences, tokens, words


def test_sentences_keep_abbreviations_together() -> None:
    assert [s.text for s in sentences("Dr. Smith came. He left at 5.30 p.m. today.")] == [
        "Dr. Smith came.",
        "He left at 5.30 p.m. today.",
    ]


def test_list_items_and_headings_stand_apart() -> None:
    text = "Key Points\nAdults need\nsleep. Really.\n- naps help\n- so does quiet\n\n1. First\n2. Second"
    assert [s.text for s in sentences(text)] == [
        "Key Points",
        "Adults need\nsleep.",
        "Really.",
        "- naps help",
        "- so does quiet",
        "1. First",
        "2. Second",
    ]


def test_a_line_that_heads_a_list_is_no_part_of_the_item_before() -> None:
    item = "- getting enough calcium from food or taking calcium supplements with food"
    assert [s.text for s in sentences(f"{item}\nUric Acid Stones\n- limiting animal protein")] == [
        item,
        "Uric Acid Stones",
        "- limiting animal protein",
    ]
    wrapped = "- eat less of what is salted\nby others, such as soup."
    assert [s.text for s in sentences(f"{wrapped}\n- drink more")] == [wrapped, "- drink more"]


def test_a_closing_bracket_stays_with_what_it_closes() -> None:
    aside = "(Watch the video to learn more. To leave it, press the Escape (Esc) button on your keyboard.)"
    found = [s.text for s in sentences(f"Two doses help. {aside} The vaccine is available.")]
    assert found[-1] == "The vaccine is available."
    assert found[-2].endswith("keyboard.)")
    assert sentences(") Alone")[0].text == ") Alone"


def test_chinese_sentences_are_found() -> None:
    assert [s.text for s in sentences("他走了。她哭了！")] == ["他走了。", "她哭了！"]


@given(st.text(max_size=300))
def test_a_sentence_is_the_text_at_its_offsets(text: str) -> None:
    spans = sentences(text)
    assert all(text[s.start : s.end] == s.text and s.text.strip() for s in spans)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


def test_words_are_unicode_and_single_characters_in_chinese() -> None:
    assert words("Don’t STOP, café! 中文 x2") == ["don’t", "stop", "café", "中", "文", "x2"]


def test_tokens_are_an_upper_estimate() -> None:
    assert (tokens(""), tokens("中文"), tokens("hello world")) == (0, 2, 4)
