"""One module per vendor: typed request out, typed value or typed error (`model/errors.ProviderFault`) back.

`interface.py` is what the runner sees, `registry.py` builds the chosen providers from the settings, `catalog.py` knows models,
limits and prices. Nothing here retries a create, touches the ledger or decides what a failure means for a project.
"""
