"""The promises of the comic database, kept on SQLite and on Postgres alike."""
