"""Experiments: comparisons of algorithms with figures, on the public API only."""
