"""The door: what each submission does to the tables, on SQLite and on Postgres."""
