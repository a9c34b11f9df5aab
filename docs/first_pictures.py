"""The pictures of `docs/start`: `python -m docs.first_pictures` makes both of them again.

One is drawn by the program that its page shows. The other is a photograph: the network that its
page describes runs, and a real browser (`/usr/bin/chromium`) looks at it.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

START = Path(__file__).parent / "start"
CHROMIUM = "/usr/bin/chromium"
WIDE, HIGH = 1280, 860
ENOUGH = 1_500
"""Activations after which the page has something to show."""


def shown(page: str, name: str) -> str:
    """The file of this name that a page of `docs/start` shows.

    Examples
    --------
    >>> shown("my-network-live.md", "net.toml").splitlines()[1]
    'name = "towns"'
    """
    found = re.search(rf"^```\w+\n(# {re.escape(name)}\n.*?)^```$", _text(page), re.M | re.S)
    if found is None:
        raise ValueError(f"{page} must show a file {name}, got none")
    return found[1]


def _text(page: str) -> str:
    return (START / page).read_text(encoding="utf-8")


def draw_regret(folder: Path) -> None:
    """Run the program of the first page."""
    (folder / "picture.py").write_text(shown("first-ten-minutes.md", "picture.py"), "utf-8")
    subprocess.run([sys.executable, "picture.py"], cwd=folder, check=True)
    shutil.copyfile(folder / "regret.png", START / "regret.png")


def photograph(folder: Path, browser: Browser) -> None:
    """Run the network of the live page, and look at it when it has learned a while."""
    (folder / "net.toml").write_text(shown("my-network-live.md", "net.toml"), "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "mtcool", "up", "net.toml", "--web", "--no-replay"],
        **{"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True},
    )
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if " at http://" in line:
                break
        else:
            raise OSError(f"network must run, got {''.join(said)}")
        page = browser.new_page(viewport={"width": WIDE, "height": HIGH}, color_scheme="light")
        page.goto(line.split(" at ")[1].strip())
        page.wait_for_function(
            f"""() => {{
                const told = document.querySelector('[data-testid="activations"]');
                return told && Number(told.textContent.replaceAll(",", "")) >= {ENOUGH};
            }}""",
            timeout=120_000,
        )
        page.wait_for_timeout(1_000)  # charts move to their place
        page.screenshot(path=START / "live-page.png")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def main() -> None:
    """Make both."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        draw_regret(Path(folder))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        photograph(Path(folder), browser)
        browser.close()


if __name__ == "__main__":
    main()
