"""HTML pages from values: one template a page and the facts on it. No reading, no media work (`stages/review_page.py`)."""
