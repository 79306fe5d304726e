"""A module for each thing that a pod can be given: aws, azure and gcp in cwii's words, and the peers' own dialects."""
