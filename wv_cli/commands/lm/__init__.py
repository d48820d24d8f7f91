"""`wv lm`: one file a subcommand or two that share their options; group.py puts them together."""
