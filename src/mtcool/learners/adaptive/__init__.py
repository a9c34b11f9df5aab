"""Learners that are given no bound on their gradients: the unit is the longest one received."""
