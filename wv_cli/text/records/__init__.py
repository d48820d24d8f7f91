"""Records: JSON lines, CSV, TSV and Parquet read as texts, and written again with fields added."""
