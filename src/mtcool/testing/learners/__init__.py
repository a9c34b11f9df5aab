"""Checks of learners: `learner_checks` lists them, `check_learner` runs them."""

from collections.abc import Sequence

from mtcool.learners import Learner
from mtcool.learners.changing import begin_clique, implements
from mtcool.testing.checks import Check, Claim, checks_of, run_all
from mtcool.testing.learners import changing, models, play, state, symmetry
from mtcool.testing.learners.trial import LearnerTrial


def learner_checks(
    learner: Learner | type[Learner],
    *,
    in_ball: bool = True,
    first_phase: int = 0,
    compiled: bool = True,
) -> list[Check]:
    """The checks that a learner must pass, each with its name.

    With pytest: `@pytest.mark.parametrize("check", learner_checks(KT(), in_ball=False))` and
    `check.run()`.

    Parameters
    ----------
    learner
        A learner (`docs/add-a-learner.md`), or its class if it needs no parameters.
    in_ball
        Whether its models stay in the unit ball. Those of KT do not.
    first_phase
        If positive, check the learner as `rates="estimated"` plays it, behind a first phase of so
        many updates.
    compiled
        If False, play in plain Python, for a debugger; nothing is compiled.

    Examples
    --------
    >>> from mtcool.learners import FTRL
    >>> [check.name for check in learner_checks(FTRL())][:2]
    ['learner_is_a_frozen_dataclass', 'state_is_a_named_tuple_of_arrays']
    """
    claims: Sequence[Claim[LearnerTrial]] = [
        *state.CLAIMS,
        *play.CLAIMS,
        *models.CLAIMS,
        *symmetry.CLAIMS,
    ]
    if in_ball:
        claims = [*claims, *models.IN_BALL]
    if compiled:  # before anything is played: no other check is to blame for a typo
        claims = [play.functions_compile, *claims, play.compiled_code_and_plain_python_agree]
    made: Learner = learner() if isinstance(learner, type) else learner
    if compiled and not first_phase and implements(begin_clique, made):
        claims = [*claims, *changing.CLAIMS]
    claims = [*state.FORM, *claims]
    return checks_of(claims, LearnerTrial(made, first_phase, compiled), repr(made))


def check_learner(
    learner: Learner | type[Learner],
    *,
    in_ball: bool = True,
    first_phase: int = 0,
    compiled: bool = True,
) -> None:
    """Check that a learner does what every learner must do.

    Raises an AssertionError that names the first check that fails, says what was found and what
    must hold.

    Parameters
    ----------
    learner, in_ball, first_phase, compiled
        As in `learner_checks`.

    Examples
    --------
    >>> from mtcool.learners import FTRL
    >>> check_learner(FTRL(), compiled=False)
    """
    run_all(learner_checks(learner, in_ball=in_ball, first_phase=first_phase, compiled=compiled))
