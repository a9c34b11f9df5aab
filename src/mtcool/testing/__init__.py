"""Checks for what you add: a learner, a loss, an aggregator, the peers of an algorithm.

`check_learner`, `check_aggregator` and `check_peers` run all checks and raise an AssertionError
that names the one that fails, says what was found and what must hold. `learner_checks`,
`aggregator_checks` and `peers_checks` list them one by one, for a test suite of your own; with
pytest::

    @pytest.mark.parametrize("check", learner_checks(MyLearner()), ids=lambda check: check.name)
    def test_my_learner(check):
        check.run()

`check_loss` tries the losses of a stream, and raises a ValueError that names the round and the
point. mtcool's own tests run them for everything that it has.
"""

from mtcool.streams import check_loss
from mtcool.testing.aggregators import aggregator_checks, check_aggregator
from mtcool.testing.checks import Check
from mtcool.testing.learners import check_learner, learner_checks
from mtcool.testing.peers import check_peers, peers_checks

__all__ = [
    "Check",
    "aggregator_checks",
    "check_aggregator",
    "check_learner",
    "check_loss",
    "check_peers",
    "learner_checks",
    "peers_checks",
]
