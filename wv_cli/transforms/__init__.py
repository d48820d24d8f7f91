"""What makes other vectors of vectors: whitening, sentences, quantizing, classes."""
