"""Running a training kernel over a corpus: threads, progress, checkpoints, memory. Knows nothing of the models."""
