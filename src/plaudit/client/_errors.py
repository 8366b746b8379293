"""What can go wrong."""


class ServerError(RuntimeError):
    """The server refused, failed or was not to be reached; the message says which.

    code: the status of its answer; None where there was none

    >>> ServerError("http://rewards:8950 answered 401: this server wants a token", 401).code
    401
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["ServerError"], tuple[str, int | None]]:
        return type(self), (str(self), self.code)
