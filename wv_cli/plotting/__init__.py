"""Words as points in the plane."""
