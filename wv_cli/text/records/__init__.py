"""Records: JSON lines, CSV, TSV, Parquet and Arrow read as texts, and written again with fields added."""
