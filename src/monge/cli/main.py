"""The entry of the command `monge`: nothing heavy is imported before Ctrl-C is caught."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: 0 ok, 1 data, 2 usage, 3 model or signature, 130 interrupted."""
    try:
        from monge.cli.app import run

        code = run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("monge: interrupted\n")
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
