"""The webhook's image: from pinned packages of Debian, pinned wheels and the installed webhook to the bytes that registries hold. Its stores fetch and push."""
