"""Experiment files: what may be in them, and what is wrong with one."""
