"""Where a cluster's objects live: the only importers of the `kubernetes` client, which is loaded when somebody connects to a cluster."""
