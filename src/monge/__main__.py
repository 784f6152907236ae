"""`python -m monge` is the command `monge`."""

from monge.cli.main import main

main()
