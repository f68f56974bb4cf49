"""The runner against a scripted provider, on both databases: what is sent, what is paid, what is kept."""
