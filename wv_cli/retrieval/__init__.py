"""Search in files of text: chunks of them, their index, and the answers to a query."""
