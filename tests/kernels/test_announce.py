"""People who wait for a kernel to compile hear of it every few seconds."""

import threading
from pathlib import Path

from mtcool.kernels import announce


def test_compiling_that_goes_on_is_said_again_and_compiling_that_has_ended_is_not(
    monkeypatch, capsys
):
    monkeypatch.setattr(announce, "PATIENCE", 0.01)
    monkeypatch.setattr(announce, "EVERY", 0.01)
    third = threading.Event()
    say = announce.Announcer._say

    def counted(self, name):
        say(self, name)
        if self._lines >= 3:
            third.set()

    monkeypatch.setattr(announce.Announcer, "_say", counted)
    announcer = announce.Announcer()
    with announcer.long_wait("_row_of"):
        assert third.wait(30)
    lines = capsys.readouterr().err.splitlines()
    assert "This happens once" in lines[0]
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for words in ("three to fourteen seconds", "for networks that change"):
        assert words in lines[0]
        assert words in readme
    assert set(lines[1:]) == {"mtcool still compiles (now: row_of)"}
    last = announcer._lines
    announcer._say("_row_of")  # a timer that was too late
    assert (announcer._lines, capsys.readouterr().err) == (last, "")
