"""What the clean-up removes, and what it never touches."""
