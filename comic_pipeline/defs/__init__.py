"""How Dagster sees the pipeline: beside `definitions.py` and `demo/`, which put it together, all that imports dagster.

Bodies here are thin: they call `stages/`, `service/` and `workflow/`, and turn the result into Dagster's values. No module
here uses postponed annotations: Dagster reads them at run time.
"""

import warnings

from dagster import BetaWarning, PreviewWarning

# Partitioned checks are marked as preview, data versions of outputs as beta; the version is pinned and tests cover what is used.
warnings.filterwarnings("ignore", category=PreviewWarning)
warnings.filterwarnings("ignore", category=BetaWarning)
