"""One module per vendor: typed request out, typed value or typed error (`model/errors.ProviderFault`) back.

`interface.py` is what the runner sees, `registry.py` builds the chosen providers from the settings, `catalog.py` knows models,
limits and prices. Nothing here retries a create, touches the ledger or decides what a failure means for a project.

Where facts are from, as read by 2026-11-30. Ark's pages are `www.volcengine.com/docs/82379/<number>`: 1299023 error codes,
1520757 create a clip, 1521309 look at one, 1521675 list them, 1521720 delete one, 1544106 prices. Speech is
`www.volcengine.com/docs/6561/<number>`: 1257584 V1, 1598757 V3. What the pages leave open comes from the vendors' own packages
(`volcengine-ark-runtime`, `openai`), which the provider sandbox is tested with. No live service was asked: look at the price
page before money depends on it.
"""
