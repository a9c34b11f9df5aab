"""How well it went: metrics, intervals and curves of a stream of any length in constant memory."""
