"""What is installed for the webhook, as plain values: what the user wants → Kubernetes objects. `templates/chart` renders the same for helm."""
