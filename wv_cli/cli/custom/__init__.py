"""Commands whose lines have a shape of their own, and the group of what is done with language models."""
