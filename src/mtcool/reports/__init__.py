"""The kit of all reports: the frame of the page, its tables, figures, and numbers in words."""
