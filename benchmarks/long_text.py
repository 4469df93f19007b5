"""Peak memory and time of indexing one long text file, by words only or with an embedder.

    python benchmarks/long_text.py --megabytes 200 [--embedder hash:64]

The text is 30,000 made-up words drawn at random, in paragraphs of five sentences. `base` is the peak before indexing.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

from personable.embed import make_embedder
from personable.retrieval.corpus import open_collection


def write_text(path: Path, megabytes: float) -> None:
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghijklmnoprstuv", k=rng.randint(2, 10))) for _ in range(30_000)]
    written = 0
    with path.open("w") as file:
        while written < megabytes * 1e6:
            sentences = [" ".join(rng.choices(words, k=14)).capitalize() + "." for _ in range(5)]
            written += file.write(" ".join(sentences) + "\n\n")


def peak() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--embedder")
    given = parser.parse_args()
    embedder = make_embedder(given.embedder) if given.embedder else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.txt"
        write_text(path, given.megabytes)
        base, wall, cpu = peak(), time.perf_counter(), time.process_time()
        with open_collection(Path(folder) / "home", "long", embedder=embedder, create=True) as collection:
            report = collection.index([path])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{given.megabytes:g} MB: {report.passages:,} passages, {wall:.0f} s, CPU {cpu:.0f} s, ", end="")
    print(f"base {base:.0f} MB, peak {peak():.0f} MB, failed: {len(report.failed)}")


if __name__ == "__main__":
    main()
