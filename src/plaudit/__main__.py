"""`python -m plaudit` is the command `plaudit`, for where that is not on the PATH."""

import sys

from plaudit.cli import main

if __name__ == "__main__":
    sys.exit(main())
