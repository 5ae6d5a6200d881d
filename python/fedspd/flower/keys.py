"""Server certificates and node keys, made with the cryptography library that Flower uses."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAYS = 825
"""Validity of the server's certificate in days: the most that browsers and libraries accept."""
AUTHORITY_DAYS = 20 * 365
"""Validity of the authority's certificate in days: longer than any study. Every site has a copy."""


def make(folder: Path, hosts: Sequence[str] = (), sites: Sequence[str] = (), *, renew: bool = False) -> list[Path]:
    """Writes the certificates and keys of a deployment and returns the files.

    Makes an authority if the folder has none, a certificate for the hosts, and a pair of keys for
    each site.

    - ``ca.crt`` goes to everyone; ``server.crt`` and ``server.key`` go to the server.
    - ``NAME.pub`` goes to the server and ``NAME.key`` to the site alone. A site may make both
      itself with ``ssh-keygen -t ecdsa -b 384``.
    - ``ca.key`` signs further certificates. Keep it offline.

    Existing files are never overwritten, except the server's certificate and key with ``renew``.
    """
    if not hosts and not sites:
        raise ValueError("no host and no site was given; name a host, a site or both")
    taken = {"ca", "server"}
    for site in sites:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", site) or site.lower() in taken:
            raise ValueError(f"invalid site name {site!r}; use letters, digits, dashes, dots and underscores, each name once, not ca or server")
        # Some file systems ignore case.
        taken.add(site.lower())
    names = [_name(host) for host in hosts]
    contents: dict[str, bytes] = {}
    if (folder / "ca.key").exists() or (folder / "ca.crt").exists():
        authority = _load(folder)
    else:
        authority = ec.generate_private_key(ec.SECP384R1())
        root = _certificate(_ISSUER, _ISSUER, authority.public_key(), authority, authority=True)
        contents["ca.crt"] = root.public_bytes(serialization.Encoding.PEM)
        contents["ca.key"] = _private(authority, serialization.PrivateFormat.PKCS8)
    if names:
        server = ec.generate_private_key(ec.SECP384R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, str(names[0].value)[:64])])
        alternatives = x509.SubjectAlternativeName(names)
        signed = _certificate(subject, _ISSUER, server.public_key(), authority, names=alternatives)
        contents["server.crt"] = signed.public_bytes(serialization.Encoding.PEM)
        contents["server.key"] = _private(server, serialization.PrivateFormat.PKCS8)
    for site in sites:
        key = ec.generate_private_key(ec.SECP384R1())
        contents[f"{site}.key"] = _private(key, serialization.PrivateFormat.OpenSSH)
        public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        contents[f"{site}.pub"] = public + f" {site}\n".encode()
    replaced = ("server.crt", "server.key") if renew else ()
    for name in contents:
        if (folder / name).exists() and name not in replaced:
            hint = "; --renew replaces it" if name.startswith("server.") else ""
            raise FileExistsError(f"{folder / name} already exists{hint}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        _write(folder / name, content)
    return [folder / name for name in contents]


_ISSUER = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fedspd deployment")])


def _load(folder: Path) -> ec.EllipticCurvePrivateKey:
    """Returns the authority's key, after a check that it matches the authority's certificate."""
    if not (folder / "ca.key").exists():
        raise FileNotFoundError(f"{folder / 'ca.key'} is missing; {folder / 'ca.crt'} needs it to sign certificates")
    if not (folder / "ca.crt").exists():
        raise FileNotFoundError(f"{folder / 'ca.crt'} is missing; it belongs to {folder / 'ca.key'}")
    authority = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
    certificate = x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())
    if not isinstance(authority, ec.EllipticCurvePrivateKey) or authority.public_key() != certificate.public_key():
        raise ValueError(f"{folder / 'ca.key'} is not the key of {folder / 'ca.crt'}")
    ends = certificate.not_valid_after_utc
    if ends < datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=DAYS):
        raise ValueError(f"{folder / 'ca.crt'} expires on {ends:%Y-%m-%d}, before a certificate that it would sign now; make a new authority in another folder")
    return authority


def _write(path: Path, content: bytes) -> None:
    """Writes a file atomically. Keys are readable by their owner only, from creation on."""
    mode = 0o600 if path.name.endswith(".key") else 0o644
    beside = path.with_name(f".{path.name}.partial")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    if os.name == "posix":
        # The new name must survive a power loss too.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _private(key: ec.EllipticCurvePrivateKey, form: serialization.PrivateFormat) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        # DNS writes non-ASCII names in IDNA encoding.
        name = host.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    label = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    # A name whose last label is a number is a malformed address.
    if not re.fullmatch(rf"({label}\.)*{label}", name) or name.rpartition(".")[2].isdigit():
        raise ValueError(f"{host!r} is neither a host name nor an IP address; leave out the scheme and the port")
    return x509.DNSName(name)


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    names: x509.SubjectAlternativeName | None = None,
    authority: bool = False,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        # One day of tolerance, because the clocks of hospitals differ.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=AUTHORITY_DAYS if authority else DAYS))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=0 if authority else None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .add_extension(
            x509.KeyUsage(
                digital_signature=not authority,
                key_cert_sign=authority,
                crl_sign=authority,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if names is not None:
        builder = builder.add_extension(names, critical=False)
        server = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(server, critical=False)
    return builder.sign(signer, hashes.SHA384())
