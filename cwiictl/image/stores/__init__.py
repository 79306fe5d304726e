"""Where the image's parts come from, and where it goes: mirrors, the package index, the installed webhook, registries."""
