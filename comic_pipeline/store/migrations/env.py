"""What Alembic executes to migrate, on the connection and in the transaction of `store/migrate.py`.

Logging is the caller's: nothing here reads an ini file.
"""

from alembic import context

from comic_pipeline.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
