"""What only a process of its own shows: start-up, signals, pipes, environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from monge.datasets.output import write_text

MONGE = [sys.executable, "-c", "from monge.cli.main import main; main()"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX process times")
def test_help_is_quick(workplace):
    """Half a second of work: processor time, since a busy machine says nothing about the
    command.
    """
    best = float("inf")
    for _ in range(5):
        process = subprocess.Popen([*MONGE, "--help"], stdout=subprocess.PIPE)
        out = process.stdout.read()
        process.stdout.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        assert b"Usage: monge" in out
        best = min(best, used.ru_utime + used.ru_stime)
    assert best < 0.5


@pytest.mark.parametrize(
    "module", ["monge", "monge.cli.main", "monge.metrics.presets", "monge.datasets", "monge.render"]
)
def test_heavy_libraries_wait_until_they_are_needed(module):
    code = (
        f"import sys, {module}; print(*[m for m in ('torch', 'transformers', 'scipy.stats', "
        f"'ot') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


ENVIRONMENTS = [
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {
        "PYTHONHASHSEED": "1",
        "LC_ALL": "tr_TR.UTF-8",
        "TZ": "Asia/Tokyo",
        "PYTHONIOENCODING": "latin-1",
    },
    {"PYTHONHASHSEED": "4242", "LC_ALL": "POSIX", "TZ": "America/New_York", "PYTHONUTF8": "0"},
]


def test_results_do_not_depend_on_the_environment(outside):
    arguments = (
        "score",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "--segments",
        "--ci",
    )
    metrics = [one for name in ("moverscore", "twmd-b", "emd") for one in ("-m", name)]
    found = [outside(*arguments, *metrics, "-f", "text", env=env) for env in ENVIRONMENTS]
    assert [(one.code, one.err) for one in found] == [(0, "")] * 3
    assert len({one.out for one in found}) == 1
    assert "\u2191" in found[0].out  # what a narrow encoding would not write


def test_closed_pipe_is_no_error(workplace):
    line = "score -t system-a.txt -r reference.txt -f json --segments"
    process = subprocess.Popen(
        [*MONGE, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=workplace
    )
    process.stdout.close()
    _, err = process.communicate(timeout=200)
    assert process.returncode in (0, 141)
    assert err == b""


def test_closed_pipe_while_much_is_written(workplace):
    """More than a pipe holds, so that the command itself meets the closed pipe, not the last
    flush.
    """
    (workplace / "many.txt").write_text("a b\n" * 3000, "utf-8")
    line = "score -t many.txt -r many.txt -m sbert -f jsonl --segments"
    process = subprocess.Popen(
        [*MONGE, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=workplace
    )
    assert process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=200) in (0, 141)
    assert err == b""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupt_is_130(workplace):
    (workplace / "large.txt").write_text(
        "".join(f"line {i} of a large file with words\n" for i in range(60000)), "utf-8"
    )
    line = "score -t large.txt -r large.txt -m twmd -o out.json -f json"
    (workplace / "out.json").write_text("as it was", "utf-8")
    # ignored in background jobs
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [*MONGE[:-1], f"{heard}; {MONGE[-1]}", *line.split()]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=workplace
    )
    journal = workplace / "out.json.partial" / "monge-cache.sqlite"
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not journal.exists():  # scoring has begun
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    assert b"interrupted" in err
    assert (workplace / "out.json").read_text("utf-8") == "as it was"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_file_names_that_are_not_utf8(workplace):
    raw = os.fsencode(workplace) + b"/hyp\xff.txt"
    with open(raw, "wb") as file:  # noqa: PTH123
        file.write((workplace / "system-a.txt").read_bytes())
    arguments = [b"score", b"-t", raw, b"-r", b"reference.txt", b"-f", b"json"]
    found = subprocess.run(
        [*map(os.fsencode, MONGE), *arguments], cwd=workplace, capture_output=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stderr == b""
    write_text("out.txt", os.fsdecode(b"hyp\xff.txt\n"))
    assert (workplace / "out.txt").read_bytes() == b"hyp\xff.txt\n"
    assert [path.name for path in workplace.glob("*out*")] == ["out.txt"]


def test_standard_input_closed(workplace):
    found = subprocess.run(
        [
            "sh",
            "-c",
            f'"{sys.executable}" -c "from monge.cli.main import main; main()" score -t - -r '
            f"reference.txt <&-",
        ],
        cwd=workplace,
        capture_output=True,
        check=False,
    )
    assert found.returncode == 1
    assert found.stdout == b""
    assert found.stderr.count(b"\n") == 1
    assert b"standard input" in found.stderr
