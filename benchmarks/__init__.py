"""Benchmarks of mtcool: ratios against a peer or a floor measured in the same run.

Run them with `make bench`, or `python -m benchmarks --help`.
"""
