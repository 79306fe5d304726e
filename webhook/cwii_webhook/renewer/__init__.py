"""The renewer: a program that looks after the webhook's certificates while nobody is there, step by step, so that it can be cut after each and begun again."""
