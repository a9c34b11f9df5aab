"""Running experiments: points and replicates as cells, on processes or a cluster."""
