"""Where keys and readable issuers live: this disk, and the web."""
