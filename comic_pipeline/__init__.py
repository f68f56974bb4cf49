"""A Dagster asset pipeline that makes AI comic-dramas (漫剧) from one idea.

Packages in dependency order: model, settings, quality, store, objects, media, prompts and pages, providers, work, stages,
service, workflow, notify, defs, definitions, demo, cli; client stands alone. Each imports only from those before it;
import-linter holds the rule.
"""
