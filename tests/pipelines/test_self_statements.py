"""What is said of oneself, told from what is asked, ordered, supposed or quoted."""

import pytest

from personable.pipelines.self_statements import said_of_self


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I moved to Rome last year.", "I moved to Rome last year."),
        ("I hate cats.", "I hate cats."),
        ("We have two kids.", "We have two kids."),
        ("I can't eat gluten.", "I can't eat gluten."),
        ("I'd like to lose weight.", "I'd like to lose weight."),
        ("I was diagnosed with diabetes.", "I was diagnosed with diabetes."),
        ("As a vegan, I avoid eggs.", "As a vegan, I avoid eggs."),
        ("My old dog has fleas.", "My old dog has fleas."),
        ("I like “Dune” a lot.", "I like “Dune” a lot."),
        ("I am vegan what should I eat?", "I am vegan"),
        ("I am vegan - what should I eat?", "I am vegan"),
        ("what should I eat given that I am vegan?", "I am vegan"),
        ("Help me, I am vegan", "I am vegan"),
        ("Mia figlia è allergica alle noci.", "Mia figlia è allergica alle noci."),
        ("Da due anni vivo a Trento.", "Da due anni vivo a Trento."),
        ("Mi piace il mare.", "Mi piace il mare."),
        ("Sono vegano, cosa posso mangiare?", "Sono vegano"),
    ],
)
def test_statements_are_heard_word_for_word(text: str, said: str) -> None:
    assert said_of_self(text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "Tell me about my rights.",
        "Give me ideas for my dinner",
        "how should I treat my headache",
        "what is good for my cat",
        "Thanks, I have to go now.",
        "If I have diabetes, sugar is bad.",
        "If I have diabetes, can I eat sugar?",
        "Posso portare il cane al museo",
        "Le mele sono buone.",
        "My friend said 'I am a vampire.'",
        "He wrote: „I am a vampire.“",
        'It says "I am old".',
        "> I am quoted",
        "What I like is my business?",
        "",
    ],
)
def test_questions_orders_suppositions_and_quotations_are_not_statements(text: str) -> None:
    assert said_of_self(text) == []
