"""Environments of their own, outside the repository, for what others install.

Programs in them see neither the repository nor the packages of the environment that runs the tests.
An environment for an extra lies on top of the one with the core alone, so that only the packages of
the extra are installed in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

Tell = Callable[[str], None]
LONGEST = 900.0
"""Seconds that pip has for one environment."""
QUIET = 10.0
"""Seconds after which whoever waits is told that it goes on."""
PATIENCE = ("--timeout", "30", "--retries", "2")
"""Of pip with an index that does not answer: it fails after two minutes at most."""


class NotInstalled(Exception):
    """pip has failed, or took too long."""


class Environment(NamedTuple):
    """A virtual environment, and what is run in it."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Where packages are installed."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def run(
        self, *command: str | Path, cwd: Path, seconds: float = 600.0, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of this environment, whatever becomes of it."""
        program = self.folder / "bin" / command[0]
        return subprocess.run(
            [program, *command[1:]],
            cwd=cwd,
            env=self._variables(),
            input=given,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def done(self, *command: str | Path, cwd: Path, seconds: float = 600.0) -> str:
        """What a command prints; it must end well."""
        found = self.run(*command, cwd=cwd, seconds=seconds)
        assert found.returncode == 0, f"{command}\n{found.stdout}{found.stderr}"
        return found.stdout

    def _variables(self) -> dict[str, str]:
        """Of this process, without those that lead back to it."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
        first = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return kept | {"PATH": first, "VIRTUAL_ENV": str(self.folder), "COLUMNS": "200"}


def make(folder: Path, below: Environment | None = None) -> Environment:
    """An environment with nothing in it but what is in the one below it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    made = Environment(folder)
    if below is not None:
        (made.packages / "below.pth").write_text(f"{below.packages}\n")
    return made


def pip(*words: str | Path, log: Path, seconds: float = LONGEST) -> None:
    """Run pip with its output in a file; raises NotInstalled, and does not hang."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    with log.open("w") as output:
        try:
            done = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, timeout=seconds, cwd=log.parent
            )
        except subprocess.TimeoutExpired:
            raise NotInstalled(f"pip took longer than {seconds:g} seconds: {last(log)}") from None
    if done.returncode != 0:
        wrong = [line for line in log.read_text().splitlines() if line.startswith("ERROR")]
        raise NotInstalled(
            f"pip could not do it; can it reach a package index? {' '.join(wrong) or last(log)}"
        )


def install(environment: Environment, what: str | Path, log: Path) -> None:
    """Install something and what it needs."""
    words = ("--progress-bar", "off", *PATIENCE, what)
    pip("--python", environment.python, "install", *words, log=log)


def last(log: Path) -> str:
    """The last line that was written and is no warning."""
    lines = [line for line in log.read_text().splitlines() if not line.startswith("WARNING")]
    return lines[-1][:80] if lines else "nothing was said"


class Environments:
    """All environments; they are made one after the other while the tests run.

    Parameters
    ----------
    wheel
        What is installed.
    folder
        Where.
    extras
        Names of extras, in the order in which they are wanted.
    tell
        Takes sentences for people who wait.
    """

    def __init__(self, wheel: Path, folder: Path, extras: list[str], tell: Tell) -> None:
        self._wheel, self._folder, self._tell = wheel, folder, tell
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._made: dict[str, Future[Environment]] = {
            name: self._pool.submit(self._make, name) for name in ["core", *extras]
        }

    def __getitem__(self, name: str) -> Environment:
        """The environment "core", or one with an extra; waits for it."""
        made, began = self._made[name], time.monotonic()
        while not made.done():
            try:
                made.exception(timeout=QUIET)
            except TimeoutError:
                took = f"{time.monotonic() - began:.0f} s"
                self._tell(f"{name} is being installed, {took}: {self._last(name)}")
        return made.result()

    def close(self) -> None:
        """Install no more."""
        self._pool.shutdown(cancel_futures=True)

    def _make(self, name: str) -> Environment:
        if name == "core":
            made = make(self._folder / name)
            install(made, self._wheel, self._log(name))
        else:
            made = make(self._folder / name, self._made["core"].result())
            install(made, f"{self._wheel}[{name}]", self._log(name))
        return made

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _last(self, name: str) -> str:
        log = self._log(name)
        return last(log) if log.exists() else "others come first"
