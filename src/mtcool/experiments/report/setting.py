"""What an experiment was run with: what its file sets, and the defaults for the rest."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from mtcool.config import schema
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import given
from mtcool.experiments.running.runner import Task
from mtcool.types import Plain


def setting(task: Task) -> str:
    """The parameters in one paragraph; what is swept shows in the figures."""
    head, point = task.experiment.head, msgspec.to_builtins(task.experiment.points[0])
    swept, file = [sweep.parameter for sweep in head.sweep], tomllib.loads(task.source)
    words = dict(_words("", point, swept))
    parts = [f"replicates {task.replicates}"]
    parts += [words[path] for path in words if _has(file, path)]
    rest = [words[path] for path in words if not _has(file, path)]
    default = f" By default: {'; '.join(rest)}." if rest else ""
    names = [_described(algorithm, swept) for algorithm in task.experiment.points[0].algorithm]
    sweeps = [f"{s.title or s.parameter} ({len(s.values)} values)" for s in head.sweep]
    tail = f" Varied: {', '.join(sweeps)}." if sweeps else ""
    return f"{'; '.join(parts)}. Algorithms: {'; '.join(names)}.{tail}{default}"


def default_words(task: Task) -> Iterator[str]:
    """Defaults that decide who wins, where the file does not set them."""
    path, file = "tasks.dim", tomllib.loads(task.source)
    if not _has(file, path) and not any(_sets(one, path) for one in task.experiment.head.sweep):
        yield f"{path} is {spec.Gaussian().dim}, the default, because the file does not set it."


def _sets(sweep: spec.Sweep, path: str) -> bool:
    """Whether all values of a sweep set the parameter: they may be whole tables."""
    rest = path.removeprefix(sweep.parameter).removeprefix(".")
    return not rest or all(_has(value, rest) for value in sweep.values)


def _has(table: Plain, path: str) -> bool:
    """Whether a file, or a table of it, sets the parameter with this path."""
    for key in path.split("."):
        if not isinstance(table, Mapping) or key not in table:
            return False
        table = table[key]
    return True


def _described(algorithm: schema.AlgorithmSpec, swept: list[str]) -> str:
    """Describe an algorithm: name, the bound L, and settings other than the defaults."""
    default = schema.AlgorithmSpec(name="", algorithm=algorithm.algorithm)
    options = [
        f"{key} {value}"
        for key, value in msgspec.to_builtins(algorithm).items()
        if key not in ("name", "algorithm", "lipschitz", *spec.PARAMETERS, *spec.FIELD)
        and f"algorithm.{algorithm.name}.{key}" not in swept
        and value != getattr(default, key)
    ]
    tables = {key: getattr(algorithm, key) for key in spec.PARAMETERS}
    tables |= {key: msgspec.to_builtins(given(getattr(algorithm, key))) for key in spec.FIELD}
    for key, table in tables.items():
        paths = (f"algorithm.{key}", f"algorithm.{algorithm.name}.{key}")
        options += [
            f"{parameter} {value}"
            for parameter, value in table.items()
            if not {f"{path}.{parameter}" for path in paths} & set(swept)
        ]
    if not {"algorithm.lipschitz", f"algorithm.{algorithm.name}.lipschitz"} & set(swept):
        options.append(f"L = {algorithm.bound}")
    return f"{algorithm.name} ({', '.join([algorithm.algorithm, *options])})"


def _words(prefix: str, table: dict[str, Any], swept: list[str]) -> Iterator[tuple[str, str]]:
    """The parameters by path, each with its value in words."""
    for key, value in table.items():
        path = f"{prefix}.{key}" if prefix else key
        if path == "algorithm" or path in swept or value is None:
            continue
        if isinstance(value, dict):
            yield from _words(path, value, swept)
        else:
            yield path, f"{path} {value:,}" if isinstance(value, int) else f"{path} {value}"
