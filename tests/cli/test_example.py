"""`monge example`: files to try everything with."""

from monge.cli.app import run
from monge.cli.example import FILES


def test_it_writes_files_that_the_other_verbs_take(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["example", "try"]) == 0
    assert {path.name for path in (tmp_path / "try").iterdir()} == set(FILES)
    monkeypatch.chdir(tmp_path / "try")
    assert run(["example"]) == 0  # the same again is nothing new
    assert (
        run(["evaluate", "table", "--data", "judged.tsv", "-m", "chrf", "--resamples", "20", "-q"])
        == 0
    )
    assert "72 judgements" in capsys.readouterr().out


def test_a_file_of_yours_is_not_overwritten(tmp_path, capsys):
    own = tmp_path / "own"
    own.mkdir()
    (own / "system-b.txt").write_text("mine\n")
    assert run(["example", str(own)]) == 2
    assert "is another file: give another directory" in capsys.readouterr().err
    assert [path.name for path in own.iterdir()] == ["system-b.txt"] and (
        own / "system-b.txt"
    ).read_text() == "mine\n"
    assert run(["example", str(own / "system-b.txt")]) == 2
