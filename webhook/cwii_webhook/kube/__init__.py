"""A small Kubernetes client, and a cache of objects that watches keep up to date."""
