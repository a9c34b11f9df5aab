"""The learner for panels: real streams, nothing to tune, never much worse than learning alone.

- `state.py`, `fields.py`, `constants.py`: what agents keep, where, and the constants;
- `scaling.py`: features and targets in units of what has been seen;
- `filters.py`: the linear model in three parts, which neighbours share;
- `regression.py`: the regression on all rows of a neighbourhood;
- `ridges.py`, `solving.py`: ridge regression on an agent's own rows;
- `mixing.py`: the mixture of these experts;
- `guard.py`: what sharing may cost;
- `clamp.py`, `limits.py`: what neighbours say, kept within bounds;
- `growth.py`: a panel that becomes larger;
- `play.py`: the round; `lessons.py`: a lesson taken by an agent by itself.

`mtcool.learn` is the door to it.
"""
