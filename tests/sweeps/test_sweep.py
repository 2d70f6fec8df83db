"""Each case becomes a row, whatever it does; the rows are the same wherever they are made."""

import json
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import wbc
from wbc.sweeps import Table, compared
from wbc.sweeps.folder import Writing
from wbc.sweeps.table import why

STUB = "tests/sweeps/stub_scene.py"


def by_case(table):
    return {row["case"]: row for row in table}


def test_every_way_to_go_wrong_is_a_row(tmp_path):
    ways = ["run", "raise", "leave", "hang", "hang in C", "die"]
    table = wbc.sweep(wbc.cases(STUB, way=ways), tmp_path, jobs=2, time_limit=1.0)
    rows = {row["overrides"]["way"]: row for row in table}
    assert {way: row["kind"] for way, row in rows.items()} == {
        "run": "finished",
        "raise": "error",
        "leave": "error",
        "hang": "hung",
        "hang in C": "hung",
        "die": "died",
    }
    assert rows["raise"]["error"]["message"] == "x = 0.0 is not what I want"
    assert rows["raise"]["error"]["type"] == "ValueError"
    assert rows["raise"]["error"]["where"].startswith("stub_scene.py:")
    assert "time limit of 1 s" in rows["hang"]["error"]["message"]
    assert "signal 9, 2 times" in rows["die"]["error"]["message"]
    assert rows["run"]["error"] is None and rows["run"]["errors"]["x"]["max"] > 0
    assert rows["run"]["cone_margin"] is None, "JSON has no infinity"


def test_a_process_that_dies_once_costs_nothing_but_time(tmp_path):
    note = str(tmp_path / "note")
    table = wbc.sweep(wbc.cases(STUB, way="die once", note=note), tmp_path / "out", jobs=1)
    assert table.kinds == {"finished": 1}
    assert len((tmp_path / "note").read_text().splitlines()) == 2


def test_processes_that_were_ended_leave_no_pipe_open(tmp_path):
    files = Path("/proc/self/fd")
    if not files.is_dir():
        pytest.skip("the files of a process are not told here")
    wbc.sweep(wbc.cases(STUB, x=range(2)), tmp_path / "before", jobs=1)
    before, most = len(list(files.iterdir())), []
    cases = wbc.cases(STUB, x=range(6), way="die")
    wbc.sweep(cases, tmp_path / "out", jobs=1, progress=lambda _: most.append(len(list(files.iterdir()))))
    assert max(most) - before < 12, "twelve processes died"


def test_rows_are_the_same_on_every_executor(tmp_path):
    cases = wbc.cases(STUB, x=[-1.0, 0.0, 1.0], way=["run", "raise"], seed=range(3))
    here = by_case(wbc.sweep(cases, tmp_path / "one", jobs=1))
    two = by_case(wbc.sweep(cases, tmp_path / "two", jobs=2))
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        other = by_case(wbc.sweep(cases, tmp_path / "pool", executor=pool))
    assert len(here) == 18 and here.keys() == two.keys() == other.keys()
    for case, row in here.items():
        assert json.dumps(compared(row)) == json.dumps(compared(two[case])) == json.dumps(compared(other[case]))
    assert {row["kind"] for row in here.values()} == {"finished", "unstable", "error"}


def test_a_simulated_case_is_the_same_each_time(tmp_path):
    scene = tmp_path / "short.py"
    scene.write_text(
        "import tasks, wbc\n"
        "from wbc.simulation import Noise, Realism, Scene, make_plant\n"
        "def scene(backend, solver, simulator, mass=1.0, seed=0):\n"
        "    robot = wbc.load('quadruped', backend)\n"
        "    robot.update(robot.model.nominal)\n"
        "    limits = tasks.TorqueLimits() + tasks.FrictionCones()\n"
        "    stack = wbc.Stack(tasks.EquationOfMotion() / limits / tasks.ContactMotion()\n"
        "        / tasks.EndEffectorAcceleration('base', robot.pose('base')) / tasks.JointAcceleration(),\n"
        "        contacts=[wbc.PointContact(foot) for foot in robot.model.feet])\n"
        "    realism = Realism(mass=mass, noise=Noise(1e-3, 1e-2), seed=seed)\n"
        "    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator, realism=realism), 0.1)\n"
    )
    cases = wbc.cases(str(scene), mass=[1.0, 1.3], seed=range(2), simulator="builtin", backend="numpy")
    one = by_case(wbc.sweep(cases, tmp_path / "one", jobs=1))
    two = by_case(wbc.sweep(cases, tmp_path / "two", jobs=2))
    assert {case: compared(row) for case, row in one.items()} == {case: compared(row) for case, row in two.items()}
    assert len({row["effort"] for row in one.values()}) == 4, "masses and seeds matter"
    for row in one.values():
        assert row["kind"] == "finished" and row["slip"] >= 0 and row["statuses"] == {"optimal": 100}
        assert row["health"]["ill"] == 0 and row["health"]["worries"] == []
        assert 0 < row["timing"]["tick_median"] < 1 and row["errors"]["base"]["rms"] > 0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no list of children")
def test_no_process_is_left(tmp_path):
    def children():
        return {child for file in Path("/proc/self/task").glob("*/children") for child in file.read_text().split()}

    before = children()
    wbc.sweep(wbc.cases(STUB, x=[0.0, 1.0]), tmp_path, jobs=2)
    assert children() <= before, "none runs on, and none has ended without being waited for"


def test_logs_of_failures_are_kept(tmp_path):
    table = wbc.sweep(wbc.cases(STUB, x=[-1.0, 1.0]), tmp_path / "some", jobs=1)
    kept = {row["overrides"]["x"]: row["log"] for row in table}
    assert kept[1.0] is None and (tmp_path / "some" / kept[-1.0]).read_bytes() == b"a log"
    assert [path.name for path in (tmp_path / "some" / "logs").iterdir()] == [kept[-1.0].removeprefix("logs/")]
    (hung,) = wbc.sweep(wbc.cases(STUB, way="hang in the run"), tmp_path / "hung", jobs=1, time_limit=0.5)
    assert hung["kind"] == "hung" and (tmp_path / "hung" / hung["log"]).read_bytes() == b"a log", "as far as it goes"
    for logs, count in (("all", 2), ("none", 0)):
        table = wbc.sweep(wbc.cases(STUB, x=[-1.0, 1.0]), tmp_path / logs, jobs=1, logs=logs)
        assert sum(row["log"] is not None for row in table) == count


def test_a_folder_may_grow_but_not_change(tmp_path):
    note = str(tmp_path / "note")
    out = tmp_path / "out"
    scene = tmp_path / "scene.py"
    scene.write_text(Path(STUB).read_text())
    wbc.sweep(wbc.cases(str(scene), x=[0.0, 1.0], note=note), out, jobs=1)
    told = []
    table = wbc.sweep(
        wbc.cases(str(scene), x=[0.0, 1.0, 2.0], note=note),
        out,
        jobs=1,
        progress=lambda p: told.append((p.done, p.total)),
    )
    assert len(table) == 3 and told == [(3, 3)]
    assert len((tmp_path / "note").read_text().splitlines()) == 3, "nothing is done twice"
    with pytest.raises(wbc.WbcError, match="another folder"):
        wbc.sweep(wbc.cases(STUB, x=0.0), out, jobs=1)
    scene.write_text(Path(STUB).read_text() + "\n")
    with pytest.raises(wbc.WbcError, match="has changed since"):
        wbc.sweep(wbc.cases(str(scene), x=5.0, note=note), out, jobs=1)


def test_why_a_case_did_not_finish_is_told(tmp_path):
    table = wbc.sweep(wbc.cases(STUB, x=[-1.0, 1.0], way=["run", "raise", "die"]), tmp_path, jobs=1)
    told = {(row["overrides"]["x"], row["overrides"]["way"]): why(row) for row in table}
    assert told[1.0, "run"] == "" and told[-1.0, "run"] == "it blew up"
    assert told[1.0, "raise"].startswith("ValueError: x = 1.0 is not what I want stub_scene.py:")
    assert told[1.0, "die"].startswith("its process ended by signal 9, 2 times")


def test_other_versions_are_refused(tmp_path, monkeypatch):
    cases = wbc.cases(STUB, x=[0.0, 1.0])
    wbc.sweep(cases, tmp_path, jobs=1)
    monkeypatch.setattr("wbc.sweeps.runner.versions", lambda: {**wbc.sweeps.versions.versions(), "numpy": "0.1"})
    with pytest.raises(wbc.WbcError, match=r"a worker has other versions: numpy 0\.1 here and"):
        wbc.sweep(cases, tmp_path / "new", jobs=1)
    about = tmp_path / "sweep.json"
    about.write_text(about.read_text().replace('"wbc": "', '"wbc": "9'))
    with pytest.raises(wbc.WbcError, match="was begun with other versions: wbc"):
        wbc.sweep(cases, tmp_path, jobs=1)


def test_two_sweeps_in_one_folder_are_told(tmp_path):
    cases = wbc.cases(STUB, x=[0.0])
    with Writing(tmp_path, cases), pytest.raises(wbc.WbcError, match="another sweep is writing"):
        wbc.sweep(cases, tmp_path, jobs=1)
    assert len(wbc.sweep(cases, tmp_path, jobs=1)) == 1


def test_a_row_that_breaks_off_is_run_again_and_a_damaged_one_is_told(tmp_path):
    cases = wbc.cases(STUB, x=[0.0, 1.0, 2.0])
    wbc.sweep(cases, tmp_path, jobs=1)
    file = tmp_path / "rows.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    assert len(Table(tmp_path)) == 2
    assert len(wbc.sweep(cases, tmp_path, jobs=1)) == 3
    file.write_bytes(b"{}\n" + whole)
    with pytest.raises(wbc.WbcError, match=r"line 1 of .*rows.jsonl is not a row"):
        list(Table(tmp_path))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jobs": 0}, "jobs = 0"),
        ({"jobs": 1, "executor": object()}, "jobs or an executor"),
        ({"logs": "some"}, "no choice of logs 'some'"),
        ({"time_limit": -1}, "the time limit"),
    ],
)
def test_what_can_not_be_is_told(options, words, tmp_path):
    with pytest.raises(wbc.WbcError, match=words):
        wbc.sweep(wbc.cases(STUB), tmp_path, **options)
    with pytest.raises(wbc.WbcError, match="needs the cases"):
        wbc.sweep([1], tmp_path)


def test_shares_have_their_confidence_interval(tmp_path):
    table = wbc.sweep(wbc.cases(STUB, x=[-1.0, 1.0], y=[1.0, 2.0], seed=range(5)), tmp_path, jobs=2)
    shares = table.shares("x", "y")
    assert list(shares) == [(-1.0, 1.0), (-1.0, 2.0), (1.0, 1.0), (1.0, 2.0)]
    assert shares[-1.0, 1.0][:2] == (0, 5) and shares[1.0, 2.0][:2] == (5, 5)
    # Wilson's interval of 5 of 5: from 1 / (1 + 1.96² / 5)
    assert shares[1.0, 2.0].low == pytest.approx(5 / (5 + 1.95996**2), rel=1e-4) and shares[1.0, 2.0].high == 1.0
    assert table.shares()[()].share == 0.5
    assert {row["kind"] for row in table.worst(10)} == {"unstable"}
    assert table.varied == {"x": [-1.0, 1.0], "y": [1.0, 2.0]}
    assert sorted(table.column("x")) == [-1.0] * 10 + [1.0] * 10
    assert (table.column("errors.x.max") > 0).all() and (table.column("nothing") != table.column("nothing")).all()
    first = next(iter(table))
    assert table.case(first["case"][:10]) == first
    with pytest.raises(wbc.WbcError, match="no case"):
        table.case("xyz")


def test_a_worker_has_one_blas_thread(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    (row,) = wbc.sweep(wbc.cases(STUB, way="tell"), tmp_path, jobs=1)
    assert row["error"]["message"] == "1 thread"


class Instant(Executor):
    """Has done everything by the time that it was asked for it; four at a time."""

    _max_workers = 4

    def submit(self, work, /, *arguments):
        future = Future()
        future.set_result(work(*arguments))
        return future


def test_rows_that_have_come_back_are_written_before_ctrl_c_ends_it(tmp_path):
    def interrupt(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wbc.sweep(wbc.cases(STUB, x=range(50)), tmp_path, executor=Instant(), progress=interrupt)
    assert len(Table(tmp_path)) == 8, "all that was sent: two for each of four"


class Losing(Executor):
    """Loses the worker that gets a certain case."""

    def submit(self, work, /, chunk, orders):
        future = Future()
        if any(case["overrides"]["x"] == 3 for case in chunk):
            future.set_exception(ConnectionError("the worker is gone"))
        else:
            future.set_result(work(chunk, orders))
        return future


def test_a_case_that_loses_its_worker_again_and_again_is_a_row(tmp_path):
    table = wbc.sweep(wbc.cases(STUB, x=range(40)), tmp_path, executor=Losing())
    assert len(table) == 40 and table.kinds == {"finished": 39, "died": 1}
    (lost,) = [row for row in table if row["kind"] == "died"]
    assert lost["overrides"]["x"] == 3
    assert "lost 3 times: ConnectionError: the worker is gone" in lost["error"]["message"]


class Broken(Executor):
    """Is of no use after a few cases."""

    left = 3

    def submit(self, work, /, *arguments):
        future = Future()
        self.left -= 1
        if self.left < 0:
            future.set_exception(BrokenExecutor("a process died"))
        else:
            future.set_result(work(*arguments))
        return future


def test_an_executor_that_breaks_is_told_and_another_goes_on(tmp_path):
    cases = wbc.cases(STUB, x=range(30))
    with pytest.raises(wbc.WbcError, match="the executor is broken: a process died"):
        wbc.sweep(cases, tmp_path, executor=Broken())
    assert len(Table(tmp_path)) == 3
    assert len(wbc.sweep(cases, tmp_path, jobs=1)) == 30
