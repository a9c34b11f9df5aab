"""Ctrl-C at a chosen line of the package."""

import sys
from pathlib import Path

import mtcool

PACKAGE = str(Path(mtcool.__file__).parent)


class Interrupter:
    """Raises KeyboardInterrupt at a given line of the package, counted from the start."""

    def __init__(self, line):
        self.left = line

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def interrupted(call, line):
    """Was the call interrupted before it came to its end?"""
    before = sys.gettrace()
    sys.settrace(Interrupter(line))
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
