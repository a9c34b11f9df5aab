"""Makes the modules of this folder, such as `oracle`, importable from the tests below it."""

from hypothesis import settings

# How long a test takes on a busy machine says nothing about what it claims.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
