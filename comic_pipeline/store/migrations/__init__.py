"""Alembic's folder: `env.py` runs the revisions in `versions/`, in order, on the connection that `store/migrate.py` gives."""
