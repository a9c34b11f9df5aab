"""`mtcool certs`: who may talk to whom in a live network."""

from mtcool.cli.node import NetworkFile


def certs(network: NetworkFile) -> None:
    """Make an authority for a network, and a certificate for each of its hosts.

    What is there stays as it is. Give each host its own certificate and key, and the certificate of
    the authority; keep the key of the authority where no host runs.
    """
    from mtcool.live.certificates import make_certificates
    from mtcool.live.description import read_description

    description = read_description(network)
    folder = description.path(description.file.security.certificates)
    addresses = {name: place.address for name, place in description.places.items()}
    made = make_certificates(folder, description.file.name, addresses)
    if made:
        print(f"{', '.join(made)} made in {folder}")
    else:
        print(f"all certificates are in {folder} already")
