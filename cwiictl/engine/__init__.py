"""What should be, what is there, and the way from one to the other. Knows no cloud."""
