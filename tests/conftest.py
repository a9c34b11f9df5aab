"""Makes the modules of this folder, such as `oracle`, importable from the tests below it."""
