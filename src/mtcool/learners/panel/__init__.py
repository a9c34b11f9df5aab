"""The learner for panels: real streams, nothing to tune, never much worse than learning alone.

- `state.py`, `fields.py`, `constants.py`: what agents keep, where, and the constants;
- `scaling.py`: features and targets in units of what has been seen;
- `filters.py`: the linear model in three parts, which neighbours share;
- `regression.py`: the regression on all rows of a neighbourhood;
- `ridges.py`, `solving.py`: ridge regression on an agent's own rows;
- `mixing.py`: the mixture of these experts;
- `promises.py`: what sharing may cost;
- `play.py`: the round.

`mtcool.learn` is the door to it.
"""
