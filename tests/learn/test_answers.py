"""Where predictions cannot be written, that is what is said."""

import io
import os

import numpy as np
import pytest

from mtcool.learn.running.answers import CsvWriter
from mtcool.learn.running.run import Answers

ONE = np.ones(1)
ANSWERS = Answers(
    np.ones(1, np.int64), np.array(["rome"], object), ONE, ONE, ONE, ONE, ONE, ONE > 0.0
)


class Full(io.RawIOBase):
    def writable(self):
        return True

    def write(self, _):
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_at_the_first_line():
    writer = CsvWriter(Full(), dated=False, target=False)
    with pytest.raises(OSError, match="No space left on device"), writer:
        writer.write(ANSWERS)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_predictions_can_go_into_a_named_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with CsvWriter(path, dated=False, target=False) as writer:
        writer.write(ANSWERS)
    assert os.read(reader, 1000).endswith(b'1,"rome",1,1,1,1,1\n')
    os.close(reader)
