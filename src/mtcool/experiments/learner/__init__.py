"""The learner of `mtcool.learn` in the report of `mtcool paper`: Figure 2 again, and real streams.

- `code.py`: a name for the code behind the numbers;
- `figure_two.py`: the learner on a replicate of the paper's figures;
- `real_streams.py`: the learner and the paper's algorithms on a stream of real data;
- `chapter.py`: what is run, and what an earlier run has left.
"""
