"""Whether the clouds would believe the cluster's tokens: what was seen of all that has to agree, judged."""
