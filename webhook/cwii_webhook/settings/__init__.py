"""What each command line was told: flags and environment, as one frozen object of its dialect."""
