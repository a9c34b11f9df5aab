"""Aggregators: running sums of private vectors, published with noise."""
