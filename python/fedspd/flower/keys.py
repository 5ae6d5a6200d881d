"""Certificates of a server and keys of its nodes, with what Flower itself is built on."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAYS = 825
"""How long certificates hold."""


def make(folder: Path, hosts: list[str], sites: list[str]) -> list[Path]:
    """Writes what a deployment needs, and gives the files. Nothing that is there is overwritten.

    ``ca.crt`` goes to everyone, ``server.crt`` and ``server.key`` to the server. Of each site, ``NAME.pub`` goes to the server and ``NAME.key`` to the
    site alone; a site that does not want its key made elsewhere makes both by itself, with ``ssh-keygen -t ecdsa -b 384``. ``ca.key`` signs further
    certificates and is best kept offline.
    """
    for site in sites:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", site) or site in ("ca", "server") or sites.count(site) > 1:
            raise ValueError(f"a site cannot be called {site!r}: letters, digits, dashes, dots and underscores, each name once, not ca or server")
    folder.mkdir(parents=True, exist_ok=True)
    authority = ec.generate_private_key(ec.SECP384R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fedspd deployment")])
    root = _certificate(issuer, issuer, authority.public_key(), authority, authority=True)
    server = ec.generate_private_key(ec.SECP384R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, hosts[0])])
    names = x509.SubjectAlternativeName([_name(host) for host in hosts])
    signed = _certificate(subject, issuer, server.public_key(), authority, names=names)
    contents = {
        "ca.crt": root.public_bytes(serialization.Encoding.PEM),
        "ca.key": _private(authority, serialization.PrivateFormat.PKCS8),
        "server.crt": signed.public_bytes(serialization.Encoding.PEM),
        "server.key": _private(server, serialization.PrivateFormat.PKCS8),
    }
    for site in sites:
        key = ec.generate_private_key(ec.SECP384R1())
        contents[f"{site}.key"] = _private(key, serialization.PrivateFormat.OpenSSH)
        public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        contents[f"{site}.pub"] = public + f" {site}\n".encode()
    for name in contents:
        if (folder / name).exists():
            raise FileExistsError(f"{folder / name} is there already")
    for name, content in contents.items():
        # Keys are for their owner's eyes from their first moment on.
        mode = 0o600 if name.endswith(".key") else 0o644
        with os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
    return [folder / name for name in contents]


def _private(key, form) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _certificate(subject, issuer, public, signer, *, names=None, authority=False) -> x509.Certificate:
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        # Clocks of hospitals differ.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
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
        server = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(server, critical=False)
    return builder.sign(signer, hashes.SHA384())
