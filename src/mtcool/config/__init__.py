"""What experiment files and network files have in common, read from TOML.

- `schema.py` has the tables of graphs and algorithms, and the kinds of numbers in them;
- `complaints.py` turns tables into these structures, or says in a sentence what is wrong;
- `graphs.py` and `algorithms.py` make what they describe;
- `outside.py` finds code that a file names as "module:name".
"""
