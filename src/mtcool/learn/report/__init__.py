"""The report of `mtcool learn`: tables, figures, sentences, and a page that shows them."""

from mtcool.learn.report.page import write_report

__all__ = ["write_report"]
