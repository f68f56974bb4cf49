"""`comic demo`: one project from submission to film in one process, over the deployment's own reconciler, jobs and instance."""
