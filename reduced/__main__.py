"""Run the command line as ``python -m reduced``."""

import sys

from reduced.cli import main

if __name__ == "__main__":
    sys.exit(main())
