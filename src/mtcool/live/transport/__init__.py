"""How questions travel between hosts."""
