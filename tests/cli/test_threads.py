import os

import pytest

from monge.cli import threads


@pytest.mark.parametrize(
    ("cores", "allowed", "quota", "threads_set"),
    [
        (2, 2, "", None),
        (8, 8, "max 100000\n", None),
        (64, 64, "200000 100000\n", "2"),
        (64, 64, "150000 100000\n", "2"),
        (64, 64, "50000 100000", "1"),
        (64, 4, "max 100000", "4"),
        (64, 64, "", "16"),
        (64, 32, "max 100000", "16"),
        (8, 8, "nonsense", None),
    ],
)
def test_threads_follow_what_the_process_may_use(
    cores, allowed, quota, threads_set, monkeypatch, tmp_path
):
    file = tmp_path / "cpu.max"
    if quota:
        file.write_text(quota)
    monkeypatch.setattr(threads, "_QUOTA", file)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(allowed)), raising=False)
    monkeypatch.setenv(threads.VARIABLE, "")  # so that what is set below is undone
    monkeypatch.delenv(threads.VARIABLE)
    threads.choose()
    assert os.environ.get(threads.VARIABLE) == threads_set


def test_a_number_that_is_set_stays(monkeypatch, tmp_path):
    quota = tmp_path / "cpu.max"
    quota.write_text("100000 100000\n")
    monkeypatch.setattr(threads, "_QUOTA", quota)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setenv(threads.VARIABLE, "3")
    threads.choose()
    assert os.environ[threads.VARIABLE] == "3"
    monkeypatch.delenv(threads.VARIABLE)
    threads.choose()
    assert os.environ[threads.VARIABLE] == "1"
