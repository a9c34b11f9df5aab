"""`mtcool learn` and `mtcool predict`: the pass over a stream, what is kept of it, its outcome."""
