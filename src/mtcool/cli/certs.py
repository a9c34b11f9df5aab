"""`mtcool certs`: who may talk to whom in a live network."""

from mtcool.cli.node import NetworkFile


def certs(network: NetworkFile) -> None:
    """Make an authority for a network, and a certificate for each of its hosts.

    What is there stays as it is. It prints which files each host needs on its machine; keep the key
    of the authority where no host runs.
    """
    from mtcool.config.schema import GraphFile
    from mtcool.live.certificates import make_certificates
    from mtcool.live.config import read_description

    description = read_description(network)
    folder = description.path(description.file.security.certificates)
    addresses = {name: place.address for name, place in description.places.items()}
    made = make_certificates(folder, description.file.name, addresses)
    if made:
        print(f"{', '.join(made)} made in {folder}")
    else:
        print(f"all certificates are in {folder} already")
    file = description.file
    shared = [network, folder / "authority.pem"]
    if isinstance(file.graph, GraphFile):
        shared.append(description.path(file.graph.path))
    if file.security.token is not None:
        shared.append(description.path(file.security.token))
    for host in description.places:
        needs = (*shared, folder / f"{host}.pem", folder / f"{host}.key")
        print(f"host {host} needs {', '.join(map(str, needs))}")
