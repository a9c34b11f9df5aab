"""Peers: who an agent talks to. The protocol, and every kind of peers that live in this process."""
