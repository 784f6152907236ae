"""Options of `monge compare`: common items, columns of tables, LaTeX and Markdown."""

import json

TABLE = (
    "system\tid\thypothesis\treference\n"
    "a\t1\tthe cat sat\tthe cat sat\na\t2\the left\the left\na\t3\tx\ty z\n"
    "b\t2\tleft\the left\nb\t1\tcat\tthe cat sat\n"
)


def test_items_that_not_all_systems_have_are_left_out_when_asked(monge, workplace):
    (workplace / "t.tsv").write_text(TABLE)
    refused = monge("compare", "t.tsv", "-m", "chrf")
    assert refused.code == 1 and "'3'" in refused.err and "--common" in refused.err
    found = monge("compare", "t.tsv", "-m", "chrf", "--common", "-f", "json")
    assert found.code == 0 and "1 of 3 items are left out" in found.err
    assert json.loads(found.out)["results"][0]["n"] == 2
    lone = TABLE.replace("b\t2", "b\t8").replace("b\t1", "b\t9")
    (workplace / "t.tsv").write_text(lone)
    nothing = monge("compare", "t.tsv", "-m", "chrf", "--common")
    assert nothing.code == 1 and "no item is common to all 2 systems" in nothing.err


def test_tables_have_the_columns_that_were_asked_for(monge, workplace):
    given = (
        "compare",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "-m",
        "chrf",
    )
    shown = monge(*given, "--table-columns", "chrf", "-f", "latex").out
    assert r"\begin{tabular}{lr}" in shown and "cluster" not in shown and "p bootstrap" not in shown
    assert shown.count(r"\begin{table}") == 1 and r"% needs \usepackage{booktabs}" in shown
    both = monge(*given, "--table-columns", "cluster,difference", "-f", "latex").out
    assert both.count(r"\begin{table}") == 2 and "chrf $" not in both
    assert (
        monge(*given, "--table-columns", "chrf", "-f", "json").out
        == monge(*given, "-f", "json").out
    )
    wrong = monge(*given, "--table-columns", "cluser")
    assert wrong.code == 2 and "did you mean cluster?" in wrong.err


def test_a_bar_in_a_name_does_not_split_a_cell_of_markdown(monge, workplace):
    (workplace / "t.tsv").write_text(TABLE.replace("a\t", "a|`b\t"))
    for name in ("score", "compare"):
        shown = monge(
            name, "t.tsv", "-m", "chrf", "-f", "markdown", *(["--common"] * (name == "compare"))
        ).out
        rows = [line for line in shown.splitlines() if line.startswith("| ")]
        widths = {
            line.replace("\\|", "").count("|") for line in rows if "chrf" in line or "36" in line
        }
        assert rows and "a\\|\\`b" in shown and len(widths) <= 2


def test_a_report_says_what_markdown_leaves_out(monge):
    given = (
        "report",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "-m",
        "chrf",
    )
    for form in ("markdown", "latex"):
        shown = monge(*given, "-f", form, "--plans", 0).out
        assert "Left out of this format, in the HTML report: differences" in shown
