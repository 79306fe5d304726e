"""What should be in Google Cloud, a file per kind. Pure."""
