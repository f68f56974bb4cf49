"""HTML pages from values: one template a page and the facts that it shows. No reading, no media work (`stages/review.py`)."""
