"""Each extra by itself, with nothing else beside the core: something real of it works."""

import json

import pytest

from live.ports import free_ports
from package.samples import BROUGHT, PAIR, SENTENCE, SIMULATE, TINY

pytestmark = pytest.mark.package

SUNS = [7 * day % 40 for day in range(40)]
ROWS = "shop,sun,units\n" + "".join(
    f"{shop},{sun},{2 * sun + k}\n" for sun in SUNS for k, shop in enumerate("abc")
)
MEAN = 40.0  # of the units, which is what one would say who has learned nothing from the sun


def run(environments, extra, program, folder):
    """What a program prints where an extra is installed."""
    return environments[extra].done("python", "-c", program, cwd=folder)


def test_learn_reads_a_table_and_predicts_another(environments, core, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text("shop,sun\na,30\nc,30\n")
    there, mtcool = environments["learn"], ("python", "-m", "mtcool")
    columns = ("--agent", "shop", "--target", "units")
    found = json.loads(there.done(*mtcool, "learn", "rows.csv", *columns, "--json", cwd=tmp_path))
    assert found["rows"] == 120
    (model,) = tmp_path.glob("results/rows/*.npz")
    told = there.done(*mtcool, "predict", model, "new.csv", "--json", cwd=tmp_path)
    predicted = [one["prediction"] for one in json.loads(told)["predictions"]]
    for said, true in zip(predicted, [60.0, 62.0], strict=True):
        assert abs(said - true) < abs(MEAN - true) / 2
    # The model can be carried to where the extra is not; the table cannot be read there.
    done = core.run("mtcool", "predict", model, "new.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert SENTENCE.fullmatch(done.stderr.strip().removeprefix("mtcool: "))[1] == "learn"


def test_exact_draws_noise_on_its_grid(environments, tmp_path):
    program = """
import mtcool
level = mtcool.Privacy(1.0, 9, noise="exact")
net = mtcool.dpmt_co2ol(mtcool.graphs.ring(3), 1, level, learner=mtcool.learners.MTFTRL([0.2]))
net.update(0, [0.5])
published = net.peers.state.aggregator.published * 2.0**20
print((published == published.round()).all(), (published != 0).any())
"""
    assert run(environments, "exact", program, tmp_path) == "True True\n"


def test_pandas_makes_tables_of_traces_and_models_take_them(environments, tmp_path):
    program = f"""{SIMULATE}
frame = trace.to_frame("agent")
print(len(frame), "regret" in frame)
import pandas
rows = pandas.DataFrame({{"sun": [1.0, 2.0], "wind": ["north", "south"]}})
model = mtcool.learn.Model()
model.learn_many(["a", "b"], rows, [1.0, 2.0])
print(model.predict_many(["a"], rows[:1]).shape)
"""
    assert run(environments, "pandas", program, tmp_path) == "3 True\n(1,)\n"


def test_data_has_the_real_streams(environments, tmp_path):
    program = """
import mtcool
for make in (mtcool.streams.births, mtcool.streams.schools, mtcool.streams.flights):
    table = make()
    print(make.__name__, len(table.target), table.graph.size)
"""
    told = dict(
        line.split(" ", 1) for line in run(environments, "data", program, tmp_path).splitlines()
    )
    assert told["births"] == "349296 48"
    assert told["schools"] == "7185 160"
    assert int(told["flights"].split()[0]) > 100_000


def test_river_has_a_model_that_learns(environments, tmp_path):
    program = """
from river import compose, metrics
from mtcool.integrations.river import GraphRegressor
model = compose.Discard("day") | GraphRegressor(agent="shop")
error = metrics.MAE()
for day in range(200):
    x = {"day": day, "shop": "abc"[day % 3], "sun": float(day % 7)}
    y = 2.0 * x["sun"] + 1.0
    if day >= 100:
        error.update(y, model.predict_one(x))
    model.learn_one(x, y)
print(error.get())
"""
    assert float(run(environments, "river", program, tmp_path)) < 0.5


def test_sklearn_has_a_model_that_learns(environments, tmp_path):
    program = """
import numpy as np
from sklearn.base import clone
from mtcool.integrations.sklearn import GraphRegressor
rng = np.random.default_rng(0)
X = np.column_stack([np.arange(300) % 3, rng.normal(size=(300, 2))])
y = X[:, 1] - 2.0 * X[:, 2] + X[:, 0]
print(clone(GraphRegressor(agent=0)).fit(X[:200], y[:200]).score(X[200:], y[200:]))
"""
    assert float(run(environments, "sklearn", program, tmp_path)) > 0.9


def test_dask_runs_an_experiment(environments, tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "cluster.py").write_text("""
from distributed import LocalCluster
import mtcool.experiments

if __name__ == "__main__":
    one = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**one) as cluster:
        address = cluster.scheduler_address
        there = mtcool.experiments.run("tiny.toml", "there", engine="dask", scheduler=address)
    here = mtcool.experiments.run("tiny.toml", "here", workers=1)
    print(len(here.tables["runs"]), here.tables["runs"] == there.tables["runs"])
""")
    assert environments["dask"].done("python", "cluster.py", cwd=tmp_path) == "4 True\n"


def test_docs_builds_pages(environments, tmp_path):
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx_design']\n"
        "html_theme = 'furo'\ndefault_role = 'code'\n"
    )
    (tmp_path / "index.md").write_text(
        "# A page\n\n```{eval-rst}\n.. autofunction:: mtcool.simulate\n```\n"
    )
    environments["docs"].done("sphinx-build", "-q", ".", "site", cwd=tmp_path)
    page = (tmp_path / "site" / "index.html").read_text()
    assert "furo" in page
    assert 'id="mtcool.simulate"' in page


def test_live_runs_two_agents_in_processes_of_their_own(environments, tmp_path):
    """With certificates, zenoh between them, and the page; nothing is lost."""
    first, _ = free_ports(2)
    (tmp_path / "pair.toml").write_text(PAIR.replace("17447", str(first)))
    command = ("up", "pair.toml", "--rounds", "20", "--web", "--json")
    found = environments["live"].done("python", "-m", "mtcool", *command, cwd=tmp_path)
    told = json.loads(found)
    assert (told["activations"], told["lost"], told["twice"], told["refused"]) == (20, 0, 0, 0)
    assert told["messages"] > 0


def test_live_has_the_files_of_its_page(environments, tmp_path):
    (tmp_path / "pair.toml").write_text(PAIR.replace("count = 2", "count = 1"))
    program = """
import asyncio, mtcool.live
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mtcool.live.page import Watch, of_node, show_on

async def main():
    async with mtcool.live.Node(mtcool.live.read_description("pair.toml")) as node:
        async with Watch(of_node(node)) as watch:
            app = FastAPI()
            show_on(app, watch)
            for name in ("page.css", "page.js"):
                print(TestClient(app).get(f"/mtcool/{name}").status_code)

asyncio.run(main())
"""
    assert run(environments, "live", program, tmp_path).split() == ["200", "200"]


@pytest.mark.parametrize("extra", BROUGHT)
def test_an_extra_brings_what_it_should(environments, extra, tmp_path):
    names = BROUGHT[extra]
    show = f"from importlib.util import find_spec; print(*(n for n in {names} if find_spec(n)))"
    assert run(environments, extra, show, tmp_path).split() == names
