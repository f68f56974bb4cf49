"""One dynamic partition a project, one partition a day.

Keys of projects are never deleted: their materializations and lineage would come loose.
"""

import dagster as dg

PROJECTS = dg.DynamicPartitionsDefinition(name="projects")
# Days as the books have them: midnight is that of Shanghai.
DAYS = dg.DailyPartitionsDefinition(start_date="2026-01-01", timezone="Asia/Shanghai")
