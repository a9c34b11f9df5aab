"""The page that shows a live network in the browser; nothing on it comes from the internet."""

from mtcool.live.extra import told_if_missing

with told_if_missing():
    from mtcool.live.page.page import show_on
    from mtcool.live.page.watching import Controls, Watch, of_node, of_urls

__all__ = ["Controls", "Watch", "of_node", "of_urls", "show_on"]
