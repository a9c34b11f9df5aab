"""Benchmarks of `mtcool.learn` on real streams: errors and speed next to those of its rivals.

Run them with `make bench-learn`, or `python -m benchmarks.learn --help`.
"""
