"""The rivals, re-run on the same rows, features, time stamps and delays as mtcool."""
