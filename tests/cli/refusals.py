"""What every refusal looks like: the right exit code, one line that names the place, nothing on
standard output.
"""

from __future__ import annotations

BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt")


def refused(found, code, *words):
    assert found.code == code, (found.code, found.err)
    assert found.out == ""
    assert found.err.startswith("monge: ")
    assert found.err.count("\n") == 1
    assert "Traceback" not in found.err
    for word in words:
        assert word in found.err, (word, found.err)


def text(workplace, content, name="bad.txt"):
    data = content if isinstance(content, bytes) else content.encode()
    (workplace / name).write_bytes(data)
