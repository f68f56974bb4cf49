"""One dynamic partition a project. Keys are never deleted: their materializations and lineage would come loose."""

import dagster as dg

PROJECTS = dg.DynamicPartitionsDefinition(name="projects")
