"""Read a table with pandas and play it with River's pipeline of each agent: a script of its own.

It knows nothing of mtcool, whose import would take time. Columns: agent, time, target, features.
"""

import sys
from collections import defaultdict

import pandas as pd
from river import linear_model, metrics, preprocessing


def main(path: str) -> None:
    """Predict all rows of a time stamp, then learn from them; print the error."""
    models = defaultdict(lambda: preprocessing.StandardScaler() | linear_model.LinearRegression())
    error = metrics.RMSE()
    for _, rows in pd.read_csv(path).groupby("time", sort=False):
        agents, targets = rows["agent"].tolist(), rows["target"].tolist()
        features = rows.drop(columns=["agent", "time", "target"]).to_dict("records")
        for agent, x, y in zip(agents, features, targets, strict=True):
            error.update(y, models[agent].predict_one(x))
        for agent, x, y in zip(agents, features, targets, strict=True):
            models[agent].learn_one(x, y)
    print(error)


if __name__ == "__main__":
    main(sys.argv[1])
