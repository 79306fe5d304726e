"""`python -m cwiictl` and the `cwiictl` command."""

from cwiictl.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
