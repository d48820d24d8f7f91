"""GloVe: counting co-occurrences, keeping and ordering the records, the model."""
