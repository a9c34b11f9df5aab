"""MT-FTRL with Hedge: the learner that the paper analyses."""

from mtcool.learners.mt_ftrl.mt_ftrl import MTFTRL

__all__ = ["MTFTRL"]
