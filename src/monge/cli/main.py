"""The entry of the command `monge`: nothing heavy is imported before Ctrl-C is caught."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code.

    0 ok, 1 data, 2 usage, 3 model or signature, 4 a failed gate, 130 interrupted.
    """
    try:
        shell = os.environ.get("MONGE_COMPLETE")
        if shell:
            from monge.cli.completion import answer

            code = answer(shell, sys.argv[1:] if arguments is None else arguments)
        else:
            from monge.cli.app import run

            code = run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("monge: interrupted\n")
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
