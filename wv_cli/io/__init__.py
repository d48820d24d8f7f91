"""Files that appear whole, bytes read from anywhere, aligned memory, unnamed files, one container for our own files."""
