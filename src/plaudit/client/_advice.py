"""An error of a connection in, what to do about it out, if trying again will not help."""

import ssl
from collections.abc import Iterator
from socket import gaierror

import httptools
import httpx


def advice_on(error: Exception, url: str) -> str:
    """What is wrong with the address of a server that was never reached; "" if it may just be away.

    >>> advice_on(httpx.ConnectError("Connection refused"), "http://rewards:8950")
    ''
    >>> error = httpx.ConnectError("Name or service not known")
    >>> error.__cause__ = gaierror(-2, "Name or service not known")
    >>> advice_on(error, "http://rewards:8950")
    'no address is known for the host rewards: check its spelling, and DNS on this machine'
    """
    address = httpx.URL(url)
    for cause in _causes(error):
        if isinstance(cause, gaierror):
            return (
                f"no address is known for the host {address.host}: check its spelling, and DNS on "
                "this machine"
            )
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                "its certificate is not trusted: use the host name that it was issued for, and set "
                "SSL_CERT_FILE to the certificate of the authority that issued it"
            )
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
            return f"TLS failed: if the server has none, its address is http://{_host(address)}"
        if isinstance(cause, httptools.HttpParserError) or "illegal" in str(cause):
            return f"it does not answer in HTTP: if it has TLS, its address is https://{_host(address)}"
    return ""


def _host(address: httpx.URL) -> str:
    return address.netloc.decode("ascii")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
