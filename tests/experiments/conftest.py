"""Makes `small`, the experiment of these tests, importable from them."""
