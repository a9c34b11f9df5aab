"""Messages of agents in the field are as long as was known before they were written."""

import numpy as np
import pytest

from mtcool.agents import FieldGradient, FieldRequest, FieldRow, decode, encode
from mtcool.field import Messages
from mtcool.field.codes import content_bytes
from mtcool.field.packing import pack
from mtcool.field.sizes import gradient_size, name_sizes, request_size, row_size
from mtcool.graphs.labels import plain_name

NAMES = ["rome", 3, -7, 300, 2**40, 2.5, ("a", 1), True, None, "a" * 40, np.int64(9)]
NAMES += [("a", np.int64(1)), (np.float64(0.5), ("b", np.str_("c")))]
CODES = [Messages(), Messages(bits=1), Messages(bits=7)]


@pytest.mark.parametrize("name", NAMES, ids=repr)
@pytest.mark.parametrize("messages", CODES, ids=repr)
@pytest.mark.parametrize("dim", [1, 40, 9000])
def test_sizes_are_those_of_encoded_messages(name, messages, dim):
    values = np.zeros(dim)
    values[0] = 0.5
    if messages.bits is not None:
        values[:] = 0.5
    content = pack(values, messages, 0.5)
    sender, size = plain_name(name, "sent"), content_bytes(messages, dim)
    said = int(name_sizes([name])[0])
    for number in (0.0, 1e9):
        sent = {
            FieldRequest(sender, number): request_size(),
            FieldRow(sender, number, 0.25, content): row_size(size),
            FieldGradient(sender, number, 0.5, 0.25, content): gradient_size(size),
        }
        for message, without_name in sent.items():
            assert len(encode(message)) == without_name + said
            assert encode(decode(encode(message))) == encode(message)
