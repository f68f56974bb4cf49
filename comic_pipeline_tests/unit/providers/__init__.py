"""Provider adapters against recorded-style answers; no network, no sleep."""
