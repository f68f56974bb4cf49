"""Secret values out of text that people read. What the secrets are is known by `settings` and the adapters, not here."""

# Servers of one's own take any key, and are given "x", "k" or "0": nothing to hide, and hiding it would break up every word.
_SHORTEST = 4


def conceal(text: str, *, secrets: tuple[str, ...]) -> str:
    """`text` with each secret of four characters or more as ***, the longest first: one may be part of another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    return text
