"""Benchmarks of the live network: `python -m benchmarks.live`."""
