"""What lies in docker/: files, proxy, and the whole of it as processes."""
