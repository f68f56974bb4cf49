"""Bodies, signatures and addresses of the webhook."""
