"""What is known of the cluster: watches that keep a picture of it in memory, and direct reads of what the picture lacks."""
