"""Networks in the field in a file, and back: all that they know, and nothing else.

`header.py` has what the header says of messages and delays, `origin.py` what a network began with,
`form.py` what is kept of agents, edges and messages under way, `learner.py` what of cliques;
`checks/` refuses what cannot be, and `rebuilding.py` makes peers that go on to the bit.
"""
