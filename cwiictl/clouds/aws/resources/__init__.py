"""What should be in AWS, a file per kind. Pure."""
