"""The paper statement by statement: where it is in the code, what checks it, what was measured."""
