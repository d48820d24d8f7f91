"""wv: word vectors on the command line. The library below the commands prints nothing and imports no click."""

__version__ = "0.1.0"
