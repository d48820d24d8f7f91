"""What makes other vectors of vectors: whitening, sentences, quantising, classes."""
