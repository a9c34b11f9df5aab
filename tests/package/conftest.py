"""The package as others get it: built once, and installed in environments of its own."""

import shutil
from collections.abc import Iterator

import pytest

from package.building import Built, build
from package.environments import Environment, Environments
from package.samples import EXTRAS


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="session")
def environments(
    built: Built, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Environments]:
    plugins = request.config.pluginmanager
    terminal, capture = map(plugins.get_plugin, ("terminalreporter", "capturemanager"))

    def tell(sentence: str) -> None:
        with capture.global_and_fixture_disabled():
            terminal.write_line(sentence)

    folder = tmp_path_factory.mktemp("environments")
    made = Environments(built.wheel, folder, EXTRAS, tell)
    yield made
    made.close()
    shutil.rmtree(folder)  # gigabytes, which pytest would keep


@pytest.fixture(scope="session")
def core(environments: Environments) -> Environment:
    """Where the wheel is installed with what it needs, and without any extra."""
    return environments["core"]
