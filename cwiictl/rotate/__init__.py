"""How a cluster's signing key is changed while nobody notices: five stages, what each requires, and what comes next."""
