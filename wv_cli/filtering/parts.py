"""The names of what a run writes for itself in the folder of its output."""

JOURNAL = ".wv-filter.json"
REPORT = "filter"  # .meta.json
