"""Tests; a package, because others install one of this name."""
