"""A node over HTTP, for programs in other languages and for those who watch it."""

from mtcool.live.extra import told_if_missing

with told_if_missing():
    from mtcool.live.http.app import http_app
    from mtcool.live.http.gate import Gate
    from mtcool.live.http.serving import serving
    from mtcool.live.http.token import token_in

__all__ = ["Gate", "http_app", "serving", "token_in"]
