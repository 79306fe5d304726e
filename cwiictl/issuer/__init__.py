"""What makes a cluster believable, whoever hosts it: its signing key, the two documents about it, and that everybody can read them."""
