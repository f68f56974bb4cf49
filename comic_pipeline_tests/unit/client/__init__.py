"""The client of a backend, its documents and its wire."""
