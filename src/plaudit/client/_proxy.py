"""The address of a server in, the proxy that leads to it out."""

import logging
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx

LOGGER = logging.getLogger("plaudit.client")


def proxy_of(url: str) -> str:
    """The proxy that the environment names for a server; "" if it is asked directly.

    A server on this machine is always asked directly: a proxy elsewhere cannot reach it.

    >>> proxy_of("http://127.0.0.1:8950"), proxy_of("http://localhost:8950")
    ('', '')
    """
    address, proxies = httpx.URL(url), getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all") or ""
    is_direct = is_local(address.host) or proxy_bypass(address.host)
    return "" if is_direct else proxy


def is_local(host: str) -> bool:
    """Whether a host is this machine, by its name.

    >>> [is_local(host) for host in ("localhost", "127.0.0.1", "::1", "rewards")]
    [True, True, True, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def httpx_settings(url: str) -> dict[str, Any]:
    """The settings of httpx for a server: its proxy is logged once; a local one has none."""
    if proxy := proxy_of(url):
        _log_proxy(url, proxy)
    address = httpx.URL(url)
    return {"mounts": {f"all://{_pattern(address.host)}": None}} if is_local(address.host) else {}


def _pattern(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@cache
def _log_proxy(url: str, proxy: str) -> None:
    address = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    shown = f"{address.scheme}://{address.netloc.decode()}"  # without its password
    host = httpx.URL(url).host
    LOGGER.warning(
        "%s is asked through the proxy %s of the environment; NO_PROXY=%s asks it directly",
        *(url, shown, host),
    )
