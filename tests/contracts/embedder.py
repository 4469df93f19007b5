"""What every embedder keeps to. A test class inherits this and gives the fixture `embedder`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from personable.embed import Embedder

TEXTS = ["A cat sat on the mat.", "Diabetes is treated with insulin.", "short", "word " * 3000, "高血压怎么治疗？"]


class EmbedderContract:
    def test_vectors_are_unit_rows_of_float32(self, embedder: Embedder) -> None:
        for vectors in (embedder.passages(TEXTS), embedder.queries(TEXTS)):
            assert vectors.shape == (len(TEXTS), embedder.dim)
            assert vectors.dtype == np.float32
            assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert embedder.passages([]).shape == (0, embedder.dim)
        assert embedder.queries([]).shape == (0, embedder.dim)

    def test_an_empty_text_has_a_vector(self, embedder: Embedder) -> None:
        vectors = embedder.passages(["", " \n", "\0", "\ud800"])
        assert np.isfinite(vectors).all()
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)

    def test_a_text_has_the_same_vector_alone_and_in_any_company(self, embedder: Embedder) -> None:
        together = embedder.passages(TEXTS)
        alone = np.concatenate([embedder.passages([text]) for text in TEXTS])
        assert (together * alone).sum(axis=1) == pytest.approx(1.0, abs=5e-3)

    def test_order_of_rows_is_order_of_texts(self, embedder: Embedder) -> None:
        forward, backward = embedder.passages(TEXTS), embedder.passages(TEXTS[::-1])
        assert (forward * backward[::-1]).sum(axis=1) == pytest.approx(1.0, abs=5e-3)

    def test_a_query_is_nearest_to_the_passage_about_it(self, embedder: Embedder) -> None:
        passages = embedder.passages(TEXTS[:3])
        found = passages @ embedder.queries(["treated with insulin"])[0]
        assert found.argmax() == 1

    def test_threads_may_share_it(self, embedder: Embedder) -> None:
        expected = embedder.queries(TEXTS[:3])
        with ThreadPoolExecutor(4) as pool:
            for vectors in pool.map(embedder.queries, [TEXTS[:3]] * 8):
                assert vectors == pytest.approx(expected, abs=1e-3)

    def test_it_says_what_it_is(self, embedder: Embedder) -> None:
        assert embedder.name
        assert embedder.digest
        assert embedder.remote in (True, False)
