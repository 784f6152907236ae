"""Fixtures of the tests of plugins."""

import pytest
from plugin_package import EXAMPLE, InstalledPackage


@pytest.fixture
def package(tmp_path):
    return InstalledPackage(tmp_path)


@pytest.fixture
def texts():
    """The options that name the bundled example."""
    return "-t", EXAMPLE / "system-a.txt", "-r", EXAMPLE / "reference.txt"
