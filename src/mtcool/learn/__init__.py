"""Learning from real streams."""
