"""Media and documents: bytes under keys, in a local folder or in S3, behind one protocol.

Belongs here: storing, reading, listing and linking bytes. Does not: which keys there are and what they mean (`work/`, `defs/io`),
rows (`store/`). `build.py` chooses the store, `store.py` says what every store promises.
"""
