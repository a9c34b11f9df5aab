"""Small pieces of the page."""

from __future__ import annotations

from nicegui import ui


def piece(classes: str) -> ui.element:
    """A part of the page, to be filled."""
    return ui.element("div").classes(classes)


def card(classes: str = "") -> ui.element:
    """A part with a border of its own."""
    return piece(f"mt-card {classes}")


def text(words: str, classes: str = "", name: str | None = None) -> ui.label:
    """Words; those with a name can be found by it."""
    label = ui.label(words).classes(classes)
    if name is not None:
        label.props(f"data-testid={name}")
    return label


def chart(classes: str, name: str) -> ui.echart:
    """A chart that the script of the page draws."""
    drawn = ui.echart({"series": []}).classes(classes)
    drawn.props(f"data-testid=chart-{name}")
    return drawn
