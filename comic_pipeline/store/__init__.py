"""The comic database: schema, migrations, one module per concern. The only package that touches SQL.

Every state change is an UPDATE guarded by the old state; rules that matter are constraints. Nothing here decides what a failure
means (`model/stage_end.py`) or calls a provider.
"""
