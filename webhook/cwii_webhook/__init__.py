"""The admission webhook that gives each pod its cloud identity."""
