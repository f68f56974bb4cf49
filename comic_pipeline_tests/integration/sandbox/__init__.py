"""Proof that the provider sandbox speaks the vendors' protocols: driven with their own SDKs."""
