"""What decides which records of a corpus stay: rules over scores of models, statistics of the text, and duplicates."""
