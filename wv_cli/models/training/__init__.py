"""A long run of steps, whatever they learn: threads, progress, checkpoints."""
