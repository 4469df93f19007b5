"""The gate: does this question need the person? Numbers only, no model call."""

from __future__ import annotations

from personable.notes import GateNote, PortraitNote
from personable.text import words

HELPS = 0.25
ESSENTIAL = 0.7
# Words of the first person, and words that ask for a judgement, in the languages of the first collections.
_SELF = frozenset(
    "i me my mine myself i'm i've i'd i'll we us our ours io mi mio mia miei je me mon ma mes moi ich mich mir mein "
    "meine meinen yo mí mis conmigo eu meu minha 我 私 나".split()
)
_ADVICE = frozenset(
    "should recommend recommended suggest best better suitable safe advice avoid right posso dovrei consigli meglio "
    "dois devrais meilleur soll sollte beste debo debería mejor".split()
)


def gate(question: str, portrait: PortraitNote) -> GateNote:
    """How much the person counts for `question`, from 0 to 1.

    Evidence: words of the first person (0.4), a request for judgement (0.2), and how close the person's nearest
    statement is to the question (its ranking score above 0.25, up to 0.4). The dial `off` gives 0; `on` gives at least
    0.5. In `auto`, a strength under 0.25 means that the person is left out.
    """
    said = set(words(question))
    nearest = max((used.score for used in portrait.statements), default=0.0)
    evidence = {
        "first person": 0.4 if said & _SELF else 0.0,
        "asks for judgement": 0.2 if said & _ADVICE else 0.0,
        "nearest statement": round(min(max(nearest - 0.25, 0.0), 0.4), 3),
    }
    strength = min(sum(evidence.values()), 1.0)
    if portrait.dial == "off":
        strength = 0.0
    elif portrait.dial == "on":
        strength = max(strength, 0.5)
    verdict = "essential" if strength >= ESSENTIAL else "helps" if strength >= HELPS else "not needed"
    if portrait.dial == "auto" and verdict == "not needed":
        strength = 0.0
    return GateNote.model_validate({"verdict": verdict, "strength": round(strength, 3), "evidence": evidence})
