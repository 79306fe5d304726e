"""What cwiictl can do, each as a straight line: what was asked → values → the clouds → values → the disk."""
