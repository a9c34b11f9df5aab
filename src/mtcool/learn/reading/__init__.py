"""Tables in: files and frames as checked, encoded batches in the order of the clock; graphs."""
