"""How Dagster sees the pipeline: the only package that imports dagster.

Bodies here are thin: they call `stages/`, `service.py` and `workflow.py`, and turn the result into Dagster's values. No module
here uses postponed annotations: Dagster reads them at run time.
"""
