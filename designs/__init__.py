"""Where the numbers come from that the package holds as constants."""
