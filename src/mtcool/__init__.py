"""Multitask online learning on networks."""
