"""What learns from text: word vectors and classifiers. Knows nothing of files and of how long a run takes."""
