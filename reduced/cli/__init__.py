"""The command line: parse, call one public function, print."""

from reduced.cli.app import main

__all__ = ["main"]
