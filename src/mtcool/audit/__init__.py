"""Audits of private networks: three ways to find out that privacy is not what it says.

- `forced_transcript` is exact: it computes what a transcript gives away of one changed loss;
  `worst_case` is the transcript that gives away most;
- `noise_law` looks at the noise: its scale, its law, its independence;
- `black_box` looks at nothing but what is published, and bounds epsilon from below by statistics.

An audit that cannot fail says nothing: `planted.py` holds bugs that these must find.
"""

from mtcool.audit.black_box import BlackBox, black_box
from mtcool.audit.law import NoiseAudit, noise_law
from mtcool.audit.transcript import Leak, Round, forced_transcript, worst_case

__all__ = [
    "BlackBox",
    "Leak",
    "NoiseAudit",
    "Round",
    "black_box",
    "forced_transcript",
    "noise_law",
    "worst_case",
]
