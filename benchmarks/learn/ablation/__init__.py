"""What each part and each constant of the learner is worth: the table of `docs/learning.md`.

`python -m benchmarks.learn.ablation --write` runs the learner once for each variant, in a process
of its own with an empty compile cache, and writes the table into the page.
"""
