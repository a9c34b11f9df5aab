"""Solvers for the experts of MT-FTRL that have rows on the ball."""
