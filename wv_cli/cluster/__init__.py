"""Training by several processes, of one machine or of many, that MPI has started: the ranks of one run."""
