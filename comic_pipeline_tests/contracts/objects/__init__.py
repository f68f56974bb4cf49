"""One suite for every object store: a folder, and S3 on a real server."""
