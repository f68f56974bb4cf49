"""Sending notices to a real server."""
