"""The originals' command lines, held against what the original programs printed and wrote, case by case."""
