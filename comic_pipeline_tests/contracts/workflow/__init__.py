"""The reconciler over a fake orchestrator, on SQLite and on Postgres."""
