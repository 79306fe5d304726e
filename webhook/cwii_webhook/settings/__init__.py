"""What each command line was told: flags and environment, as one frozen object of its dialect."""

LEAST, MOST = 600, 1 << 32  # seconds: what the API server takes for a token
