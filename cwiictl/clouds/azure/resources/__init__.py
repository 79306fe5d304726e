"""What should be in Azure, a file per kind. Pure."""
