"""The renewer: a program that renews the webhook's certificates in interruptible steps."""
