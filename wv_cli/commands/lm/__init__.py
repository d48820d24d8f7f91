"""`wv lm`: subcommands that answer questions, and group.py, which puts them beside those made of jobs."""
