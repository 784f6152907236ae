"""A process that has loaded what is slow to load, and forks a `monge` for every request: one JSON
line each.

A request says the arguments, the directory, and what standard input, output and error are (paths:
of files or of pseudo-terminals). It is answered by two lines: the process' number, then its exit
code.
"""

import gc
import json
import os
import signal
import sys

import scipy.stats  # noqa: F401
import torch  # noqa: F401
import transformers.models.auto.modeling_auto
import transformers.models.bert.modeling_bert  # noqa: F401

from monge.cli.main import main

gc.freeze()


def child(request):
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a job in the background inherits that Ctrl-C is ignored
    os.chdir(request["cwd"])
    for number, path in enumerate(request["streams"]):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOCTTY, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False, buffering=1 if os.isatty(1) else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115
    sys.argv = ["monge", *request["arguments"]]
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(end.code)  # letting go of the libraries, one by one, takes longer than the command


for line in sys.stdin:
    process = os.fork()
    if not process:
        child(json.loads(line))
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
