"""Pictures show the shares that are there; the page needs nothing but itself."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import wbc
from wbc.sweeps import Table
from wbc.sweeps.rows import line
from wbc.sweeps.tuning import Best

pytest.importorskip("matplotlib")

from wbc.sweeps import pictures
from wbc.sweeps.report import write_report, write_study


@pytest.fixture
def table(tmp_path):
    """Pushes of 10 to 40 N from four sides, four seeds: all stand up to 30 N, from 90° half of them up to 20 N."""
    with (tmp_path / "rows.jsonl").open("w") as file:
        for push in (10.0, 20.0, 30.0, 40.0):
            for direction in (0.0, 90.0, 180.0, 270.0):
                for seed in range(4):
                    stands = push <= 30.0 and not (direction == 90.0 and push > 10.0 and (push > 20.0 or seed % 2))
                    kind = "finished" if stands else "fell"
                    row = {
                        "case": f"{len(str(push))}{push}{direction}{seed}",
                        "scene": "<demo>",
                        "overrides": {"push": push, "direction": direction},
                        "seed": seed,
                        "kind": kind,
                        "ended": kind,
                        "error": None,
                        "time": 1.0 + push / 100,
                        "cone_margin": push,
                        "torque_margin": None,
                    }
                    file.write(line(row) + "\n")
    return Table(tmp_path)


def test_a_map_has_the_shares(table):
    axes = pictures.robustness_map(table, "direction", "push").axes[0]
    colors = axes.images[0].get_array()
    assert colors.shape == (4, 4)
    assert np.array_equal(colors[:, 1], [1.0, 0.5, 0.0, 0.0]) and np.array_equal(colors[:, 0], [1.0, 1.0, 1.0, 0.0])
    words = {text.get_position(): text.get_text() for text in axes.texts}
    assert words[1, 1] == "50 %\n15 to 85", "Wilson's interval of 2 of 4"


def test_the_largest_push_by_direction(table):
    half, everybody = pictures.largest_push(table).axes[0].lines
    assert list(everybody.get_ydata()) == [30.0, 10.0, 30.0, 30.0, 30.0], "closed"
    assert list(half.get_ydata()) == [30.0, 20.0, 30.0, 30.0, 30.0]
    assert np.allclose(np.degrees(half.get_xdata()), [0, 90, 180, 270, 0])


class Links(HTMLParser):
    """Collects what a page would fetch."""

    def __init__(self):
        super().__init__()
        self.found, self.tags = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.found += [value for name, value in attributes if name in ("src", "href")]


def test_the_page_needs_nothing_but_itself(table):
    path = write_report(table)
    page = path.read_text()
    links = Links()
    links.feed(page)
    assert path == table.folder / "report.html"
    assert links.tags.count("img") == 2 and all(link.startswith("data:image/svg+xml;base64,") for link in links.found)
    assert "script" not in links.tags and "link" not in links.tags and "url(" not in page and "@import" not in page
    assert "Sweep of &lt;demo&gt;" in page and "42 of 64 cases finished: 65.6 %" in page
    worst = re.findall(r"<code>(.*?)</code>", page)
    assert len(worst) == 20 and worst[0].startswith("wbc run &#x27;&lt;demo&gt;&#x27; --case ")


def test_a_study_is_drawn(tmp_path):
    trials = [SimpleNamespace(params={"hz": float(k), "way": "ab"[k % 2]}, value=1.0 / (k + 1)) for k in range(8)]
    trials += [SimpleNamespace(params={"hz": 9.0, "way": "a"}, value=1.5e6), SimpleNamespace(params={}, value=None)]
    study = SimpleNamespace(trials=trials)
    best = Best("demo", {"hz": 7.0, "way": "b"}, 0.125, 1.0, 9, 1, study, lambda row: 0.0, {})
    page = write_study(best, tmp_path / "study.html").read_text()
    assert "9 trials, 1 of them given up early. Score 0.125" in page and "<td>7</td>" in page and "data:image" in page
    lines = [
        one
        for one in pictures.parallel_coordinates([(t.params, t.value) for t in trials[:9]], 1e6).axes[0].lines
        if len(one.get_ydata()) == 3
    ]
    assert len(lines) == 8, "trials with runs that did not finish are left out"
    assert list(lines[-1].get_ydata()) == [1.0, 1.0, 0.0], "the best one is drawn last"


def test_values_over_decades_are_drawn_by_their_logarithms():
    trials = [({"weight": 10.0**k, "hz": 1.0 + k}, 9.0 - k) for k in range(-4, 1)]
    lines = pictures.parallel_coordinates(trials, 1e6).axes[0].lines
    drawn = np.array([one.get_ydata() for one in lines if len(one.get_ydata()) == 3])
    assert np.allclose(drawn[:, 0], [0.0, 0.25, 0.5, 0.75, 1.0]) and np.allclose(drawn[:, 1], drawn[:, 0])


def test_nothing_to_show_is_told(tmp_path):
    (tmp_path / "rows.jsonl").write_text("")
    with pytest.raises(wbc.WbcError, match="has no rows"):
        write_report(Table(tmp_path))
    with pytest.raises(wbc.WbcError, match="nothing to draw"):
        pictures.parallel_coordinates([({"hz": 1.0}, 2e6)], 1e6)
