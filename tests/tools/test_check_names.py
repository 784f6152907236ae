"""The check of names and sizes finds what it is for."""

import ast

import check_names


def parse(source):
    return {"room/file.py": ast.parse(source)}


def test_a_vague_variable_and_parameter_are_found():
    (variable, parameter) = check_names.find_vague(parse("one = 1\ndef add(given): return given\n"))
    assert variable.startswith("room/file.py:1: 'one'")
    assert parameter.startswith("room/file.py:2: 'given'")
    assert not list(check_names.find_vague(parse("def __add__(self, other): return other\n")))


def test_a_class_name_that_exists_twice_is_found():
    (problem,) = check_names.find_repeated_classes(parse("class Run: ...\nclass Run: ...\n"))
    assert problem == "class Run exists 2 times: room/file.py:1, room/file.py:2"


def test_a_long_function_is_found_by_its_qualified_name():
    body = "        pass\n" * check_names.LONGEST
    trees = parse(f"class Run:\n    def start(self):\n{body}")
    (problem,) = check_names.find_long_functions(trees)
    assert problem == "room/file.py:2: Run.start has 41 lines, more than 40"
    assert not list(check_names.find_long_functions(parse(f"def start():\n{body[13:]}")))


def test_the_repository_passes(capsys):
    assert check_names.main() == 0, capsys.readouterr().out
