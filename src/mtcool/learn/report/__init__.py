"""The report of `mtcool learn`: tables, figures, sentences, and a page that shows them."""

from mtcool.learn.report.page import headline_table, write_report

__all__ = ["headline_table", "write_report"]
