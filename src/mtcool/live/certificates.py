"""A certificate authority for one network, and a certificate for each of its hosts."""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path

from mtcool.files import write_whole
from mtcool.live.extra import told_if_missing

with told_if_missing():
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY, AUTHORITY_KEY = "authority.pem", "authority.key"
YEARS = 10


def make_certificates(
    folder: str | os.PathLike[str], network: str, hosts: dict[str, str]
) -> list[str]:
    """Make what is missing: an authority, and a certificate for each host; returns what was made.

    Files that are there stay as they are, so that a host can be added later. The key of the
    authority is needed for that alone: keep it where no host runs.

    Parameters
    ----------
    folder
        Where the files are; it is open to its owner only.
    network
        Name of the network, which the authority bears.
    hosts
        Names of the hosts, and the address of each: "rome.example.org:7447".
    """
    place = Path(folder)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    made: list[str] = []
    if not (place / AUTHORITY).exists():
        _make_authority(place, network)
        made += [AUTHORITY, AUTHORITY_KEY]
    missing = [host for host in hosts if not (place / f"{host}.pem").exists()]
    if missing and not (place / AUTHORITY_KEY).exists():
        raise ValueError(
            f"{place / AUTHORITY_KEY} must be there to make a certificate for {missing[0]!r}, "
            "got no such file"
        )
    for host in missing:
        _make_host(place, host, hosts[host])
        made += [f"{host}.pem", f"{host}.key"]
    return made


def check_certificate(path: Path, host: str | None = None) -> None:
    """Refuse a certificate that others would not accept now, or that is not that of a host.

    Parameters
    ----------
    path
        Its file.
    host
        Whose it must be; None for that of an authority.
    """
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"certificate must be in PEM, got {path}: {error}") from None
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    now = datetime.datetime.now(datetime.UTC)
    if now > ends:
        raise ValueError(
            f"certificate must be valid, got {path}, which expired on {ends:%Y-%m-%d}: remove it, "
            "and make another one with `mtcool certs`"
        )
    if now < begins:
        raise ValueError(
            f"certificate must be valid, got {path}, which is not valid before "
            f"{begins:%Y-%m-%d %H:%M} UTC: is the clock of this machine right?"
        )
    subject = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    names = [str(one.value) for one in subject]
    if host is not None and names != [host]:
        found = ", ".join(map(repr, names)) or "nobody"
        raise ValueError(f"certificate must name host {host!r}, got one of {found} in {path}")


def _make_authority(place: Path, network: str) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"mtcool {network}")])
    certificate = (
        _builder(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(place, AUTHORITY, certificate, AUTHORITY_KEY, key)


def _make_host(place: Path, host: str, address: str) -> None:
    authority = x509.load_pem_x509_certificate((place / AUTHORITY).read_bytes())
    signer = serialization.load_pem_private_key((place / AUTHORITY_KEY).read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)  # we have made it
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    usage = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    certificate = (
        _builder(name, authority.subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternatives(address)), critical=False)
        .sign(signer, hashes.SHA256())
    )
    _write(place, f"{host}.pem", certificate, f"{host}.key", key)


def _alternatives(address: str) -> Iterable[x509.GeneralName]:
    where = address.rpartition(":")[0].strip("[]")
    try:
        return [x509.IPAddress(ipaddress.ip_address(where))]
    except ValueError:
        return [x509.DNSName(where)]


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=365 * YEARS))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _write(
    place: Path,
    name: str,
    certificate: x509.Certificate,
    key_name: str,
    key: ec.EllipticCurvePrivateKey,
) -> None:
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    write_whole(place / key_name, lambda file: file.write(secret), secret=True)
    public = certificate.public_bytes(serialization.Encoding.PEM)
    write_whole(place / name, lambda file: file.write(public))
