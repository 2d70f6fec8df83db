"""The URDF reader: what it takes in, what it refuses and with which words, and what it accepts with a warning."""

import warnings

import numpy as np
import pytest

import wbc
from wbc.errors import unknown_name
from wbc.model import read_urdf

INERTIA = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'


def link(name, mass="1", inertia=INERTIA, more=""):
    inertial = "" if mass is None else f'<inertial><mass value="{mass}"/>{inertia}</inertial>'
    return f'<link name="{name}">{inertial}{more}</link>\n'


def joint(name, parent, child, kind="revolute", more=f'<axis xyz="0 0 1"/>{LIMIT}'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>\n'


def robot(*parts):
    return f'<robot name="r">\n{"".join(parts)}</robot>'.encode()


def arm(*more, shoulder=None, upper=None):
    """A base, an upper link, and a joint between them: lines 2, 3 and 4."""
    return robot(
        link("base"), link("upper") if upper is None else upper, shoulder or joint("shoulder", "base", "upper"), *more
    )


def problems(text, **options):
    with pytest.raises(wbc.WbcError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_urdf(text, **options)
    assert str(caught.value).startswith("URDF: ")
    return caught.value.problems


def only_problem(text, **options):
    """The one error; each of them is reported once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = problems(text, **options)
    assert len(found) == 1, found
    return found[0]


def warned(text, **options):
    """The model, and its one warning."""
    with pytest.warns(wbc.WbcWarning) as caught:
        model = read_urdf(text, **options)
    (message,) = [str(warning.message) for warning in caught]
    assert message == f"URDF: {model.warnings[0]}"
    return model, message


# --- what is read


def test_reads_all_that_dynamics_needs():
    shoulder = joint(
        "shoulder",
        "base",
        "upper",
        more='<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 -4"/>'
        '<limit lower="-1" upper="2" effort="10" velocity="3"/><dynamics damping="0.5" friction="0.25"/>',
    )
    upper = (
        '<link name="upper"><inertial><origin xyz="0.1 0.2 0.3" rpy="1.5707963267948966 0 0"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/></inertial></link>\n'
    )
    extension = '<wbc><joint name="shoulder" armature="0.02" stiffness="3" rest="0.5" actuated="false"/></wbc>'
    model = read_urdf(arm(extension, shoulder=shoulder, upper=upper))
    assert (model.name, model.nq, model.nv, model.na, model.mass) == ("r", 1, 1, 0, 2.0)
    assert model.joint_names == ("shoulder",) and not model.floating and model.root == "base"
    read = model.joints["shoulder"]
    np.testing.assert_allclose(read.pose, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], atol=1e-15)
    np.testing.assert_array_equal(read.axis, [0, 0, -1])
    values = read.lower, read.upper, read.velocity, read.effort, read.damping, read.friction
    assert values == (-1, 2, 3, 10, 0.5, 0.25)
    assert (read.armature, read.stiffness, read.rest, read.actuated) == (0.02, 3, 0.5, False)
    body = model.bodies["upper"]
    np.testing.assert_array_equal(body.com, [0.1, 0.2, 0.3])
    # turned by 90° about x: y goes to z, z to −y
    np.testing.assert_allclose(body.inertia, [[1, -0.2, 0.1], [-0.2, 2.5, -0.3], [0.1, -0.3, 2]], atol=1e-15)


def test_meshes_and_packages_are_no_obstacle():
    mesh = '<visual><geometry><mesh filename="package://nowhere/a.dae"/></geometry></visual>'
    model = read_urdf(arm(upper=link("upper", more=mesh)))
    assert model.shapes == () and model.warnings == ()


def test_unknown_elements_are_passed_over():
    text = arm("<transmission name='t'/><gazebo><plugin/></gazebo><sensor/>")
    assert read_urdf(text).warnings == ()


@pytest.mark.parametrize("name", ["Grüße", "关节", "a b", "a/b"])
def test_names_are_any_text(name):
    assert read_urdf(arm(shoulder=joint(name, "base", "upper"))).joint_names == (name,)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_read(encoding):
    assert read_urdf(arm().decode().encode(encoding)).nv == 1


@pytest.mark.parametrize(
    ("kind", "nq", "nv", "na"),
    [
        ("fixed", 0, 0, 0),
        ("revolute", 1, 1, 1),
        ("continuous", 1, 1, 1),
        ("prismatic", 1, 1, 1),
        ("planar", 3, 3, 3),
        ("spherical", 4, 3, 3),
        ("floating", 7, 6, 0),
    ],
)
def test_joint_kinds(kind, nq, nv, na):
    text = arm(shoulder=joint("shoulder", "base", "upper", kind))
    model = read_urdf(text)
    assert (model.nq, model.nv, model.na) == (nq, nv, na)
    assert len(model.limits.velocity) == nv and (model.limits.velocity == 2).all()
    np.testing.assert_array_equal(model.limits.effort, np.full(na, 10))
    text = arm(
        link("hand"), joint("wrist", "upper", "hand", kind), shoulder=joint("shoulder", "base", "upper", "fixed")
    )
    in_a_tree = read_urdf(text, floating=True)
    assert (in_a_tree.nq, in_a_tree.nv, in_a_tree.na) == (nq + 7, nv + 6, na)


def test_joints_are_passive_by_name():
    text = arm(link("hand"), joint("wrist", "upper", "hand"))
    assert [
        len(read_urdf(text, passive=which).actuated) for which in ((), ["wrist"], "wrist", ("wrist", "shoulder"))
    ] == [
        2,
        1,
        1,
        0,
    ]
    np.testing.assert_array_equal(read_urdf(text, passive="wrist", floating=True).actuated, [6])


def test_base_is_as_asked_or_as_the_file_says():
    text = arm('<wbc base="floating"/>')
    assert read_urdf(text).floating and not read_urdf(text, floating=False).floating
    assert read_urdf(arm(), floating=True).floating and not read_urdf(arm()).floating


def test_root_called_world_is_the_world():
    text = robot('<link name="world"/>', link("base"), joint("j", "world", "base", "floating"))
    for floating in (None, True):
        model = read_urdf(text, floating=floating)
        assert model.floating and model.nv == 6 and model.na == 0


def test_ends_and_nominal_configuration():
    extension = (
        '<wbc><foot link="upper" corners="1 1  -1 1  -1 -1"/><hand link="base"/>'
        '<nominal base="0 0 2  1 0 0 0"><joint name="shoulder" position="0.5"/></nominal></wbc>'
    )
    model = read_urdf(arm(extension), floating=True)
    assert model.feet == ("upper",) and model.hands == ("base",)
    np.testing.assert_array_equal(model.soles["upper"], [[1, 1], [-1, 1], [-1, -1]])
    np.testing.assert_array_equal(model.nominal, [0, 0, 2, 1, 0, 0, 0, 0.5])
    np.testing.assert_array_equal(read_urdf(arm(extension)).nominal, [0.5])


@pytest.mark.parametrize("huge", ["inf", "1e16", "3.4e38", "1e400"])
def test_a_limit_greater_than_anything_is_none(huge):
    limit = f'<limit lower="-{huge}" upper="{huge}" effort="{huge}" velocity="{huge}"/>'
    model = read_urdf(arm(shoulder=joint("shoulder", "base", "upper", more=limit)))
    limits = model.limits
    for values in (-limits.lower, limits.upper, limits.velocity, limits.effort):
        np.testing.assert_array_equal(values, [np.inf])


def test_an_axis_is_made_a_unit_vector_whatever_its_length():
    for length in (1e-5, 1.0, 1e11):
        shoulder = joint("shoulder", "base", "upper", more=f'<axis xyz="0 {3 * length} {4 * length}"/>{LIMIT}')
        np.testing.assert_allclose(read_urdf(arm(shoulder=shoulder)).joints["shoulder"].axis, [0, 0.6, 0.8])


# --- what is refused

SHOULDER = "<joint name='shoulder'> (line 4)"
UPPER = "<link name='upper'> (line 3)"


def moved(more, kind="revolute"):
    return arm(shoulder=joint("shoulder", "base", "upper", kind, more))


def heavy(mass="1", **inertia):
    entries = {"ixx": "0.1", "iyy": "0.1", "izz": "0.1", **inertia}
    text = " ".join(f'{name}="{value}"' for name, value in entries.items())
    return arm(upper=link("upper", mass, f"<inertia {text}/>"))


WRONG = {
    "not XML": (b"solid cube", ["not well-formed XML", "line 1"]),
    "empty": (b"", ["not well-formed XML", "no element found"]),
    "cut short": (arm()[:100], ["not well-formed XML", "line 2"]),
    "binary": (bytes(range(256)), ["not well-formed XML"]),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', ["encoding"]),
    "another format": (b"<sdf/>", ["no URDF", "<sdf>", "<robot>"]),
    "no links": (robot(), ["no links"]),
    "xacro": (robot('<xacro:macro name="leg"/>'), ["<xacro:macro name='leg'> (line 2)", "xacro"]),
    "xacro expression": (moved(f'<origin xyz="0 0 ${{height}}"/>{LIMIT}'), ["<origin> (line 4)", "${height}", "xacro"]),
    "two roots": (robot(link("a"), link("b")), ["2 roots", "'a', 'b'"]),
    "unknown parent": (
        arm(link("c"), joint("j", "uper", "c")),
        ["<joint name='j'> (line 6)", "parent", "'uper'", "did you mean 'upper'?", "'base', 'upper', 'c'"],
    ),
    "unknown child": (arm(joint("j", "upper", "hand")), ["<joint name='j'> (line 5)", "child", "no link 'hand'"]),
    "no parent": (
        arm(link("c"), '<joint name="j" type="fixed"><child link="c"/></joint>'),
        ["<joint name='j'> (line 6)", "<parent link="],
    ),
    "own parent": (arm(link("c"), joint("j", "c", "c")), ["<joint name='j'> (line 6)", "its parent is its child"]),
    "two parents": (
        arm(link("c"), joint("j", "upper", "c"), joint("k", "base", "c")),
        ["<joint name='k'> (line 7)", "'c'", "<joint name='j'> (line 6)", "loop"],
    ),
    "duplicate link": (arm(link("upper")), ["<link name='upper'> (line 5)", "another of that name on line 3"]),
    "duplicate joint": (
        arm(link("c"), joint("shoulder", "upper", "c")),
        ["<joint name='shoulder'> (line 6)", "another of that name on line 4"],
    ),
    "link without a name": (arm("<link/>"), ["<link> (line 5)", "no name"]),
    "joint without a type": (
        arm(link("c"), '<joint name="j"><parent link="base"/><child link="c"/></joint>'),
        ["<joint name='j'> (line 6)", "'type' is missing", "revolute", "floating"],
    ),
    "unknown joint type": (
        moved(LIMIT, "revolut"),
        [SHOULDER, "no joint type 'revolut'", "did you mean 'revolute'?", "'prismatic'"],
    ),
    "zero axis": (moved(f'<axis xyz="0 0 0"/>{LIMIT}'), [SHOULDER, "axis [0.0, 0.0, 0.0] has no direction"]),
    "axis that is not finite": (
        moved(f'<axis xyz="0 nan 1"/>{LIMIT}'),
        ["<axis> (line 4)", "xyz='0 nan 1' is not finite"],
    ),
    "infinite axis": (moved(f'<axis xyz="0 inf 1"/>{LIMIT}'), ["<axis> (line 4)", "is not finite"]),
    "axis of two numbers": (
        moved(f'<axis xyz="0 1"/>{LIMIT}'),
        ["<axis> (line 4)", "'0 1' has 2 values; it needs 3 numbers"],
    ),
    "axis of words": (moved(f'<axis xyz="a b c"/>{LIMIT}'), ["<axis> (line 4)", "xyz='a b c' is not 3 numbers"]),
    "axis without numbers": (moved(f"<axis/>{LIMIT}"), ["<axis> (line 4)", "'xyz' is missing"]),
    "empty axis": (moved(f'<axis xyz=""/>{LIMIT}'), ["<axis> (line 4)", "xyz='' has no value; it needs 3 numbers"]),
    "lower above upper": (
        moved('<limit lower="1" upper="-2" effort="1" velocity="1"/>'),
        [SHOULDER, "lower limit 1 is above its upper limit -2"],
    ),
    "missing bound is zero": (
        moved('<limit lower="1" effort="1" velocity="1"/>'),
        [SHOULDER, "lower limit 1 is above its upper limit 0"],
    ),
    "limit that is not a number": (
        moved('<limit lower="nan" upper="1" effort="1" velocity="1"/>'),
        ["<limit> (line 4)", "lower='nan' is not finite"],
    ),
    "limits both infinite": (moved('<limit lower="inf" upper="inf"/>'), [SHOULDER, "position limits are both inf"]),
    "negative effort": (
        moved('<limit lower="-1" upper="1" effort="-5" velocity="1"/>'),
        [SHOULDER, "effort limit is -5", "not be negative"],
    ),
    "negative damping": (moved(f'{LIMIT}<dynamics damping="-1"/>'), [SHOULDER, "damping is -1"]),
    "negative friction": (moved(f'{LIMIT}<dynamics friction="-1"/>'), [SHOULDER, "friction is -1"]),
    "negative mass": (heavy("-3"), [UPPER, "mass is -3 kg"]),
    "negative mass of what does not move": (
        robot(link("base", "-1")),
        ["<link name='base'> (line 2)", "mass is -1 kg"],
    ),
    "mass that is not finite": (heavy("nan"), ["<mass> (line 3)", "value='nan' is not finite"]),
    "mass beyond all robots": (heavy("1e300"), ["<mass> (line 3)", "beyond any robot's size"]),
    "mass with Python's underscores": (heavy("1_0"), ["<mass> (line 3)", "'1_0' is not a number"]),
    "mass without a value": (
        arm(upper='<link name="upper"><inertial><mass/><inertia/></inertial></link>\n'),
        ["<mass> (line 3)", "'value' is missing; it needs a number"],
    ),
    "no mass element": (arm(upper=f'<link name="upper"><inertial>{INERTIA}</inertial></link>\n'), [UPPER, "no <mass>"]),
    "no inertia element": (arm(upper=link("upper", inertia="")), [UPPER, "no <inertia>"]),
    "stated mass of zero on what moves by itself": (
        heavy("0", ixx="0", iyy="0", izz="0"),
        [UPPER, "it moves", "neither it nor what it carries has a mass"],
    ),
    "inertia without mass": (heavy("0"), [UPPER, "it moves, but its mass is 0 kg"]),
    "moves without mass": (
        arm(upper=link("upper", None)),
        [UPPER, "it moves", "neither it nor what it carries has a mass"],
    ),
    "inertia that is not positive definite": (
        heavy(ixy="0.2"),
        [UPPER, "not positive definite", "-0.1, 0.1, 0.3 kg m²", "strict=False accepts it"],
    ),
    "point mass": (heavy(ixx="0", iyy="0", izz="0"), [UPPER, "not positive definite", "0, 0, 0"]),
    "triangle inequality": (heavy(izz="0.21"), [UPPER, "triangle inequality", "0.1, 0.1, 0.21 kg m²"]),
    "links together": (
        arm(link("tool", "1", INERTIA.replace("0.1", "-1")), joint("j", "upper", "tool", "fixed")),
        ["links ['upper', 'tool'] have together an inertia that is not positive definite"],
    ),
    "world below the root": (
        robot(link("base"), link("world"), joint("j", "base", "world")),
        ["<link name='world'> (line 3)", "has no parent"],
    ),
    "unknown foot": (
        arm('<wbc><foot link="uper"/></wbc>'),
        ["<foot> (line 5)", "no link 'uper'", "did you mean 'upper'?"],
    ),
    "foot twice": (
        arm('<wbc><foot link="upper"/><foot link="upper"/></wbc>'),
        ["<foot> (line 5)", "'upper' is named as a foot before"],
    ),
    "odd corners": (
        arm('<wbc><foot link="upper" corners="1 2 3 4 5"/></wbc>'),
        ["<foot> (line 5)", "5 numbers", "x and y of three or more"],
    ),
    "unknown joint in the extension": (
        arm('<wbc><joint name="sholder"/></wbc>'),
        ["<joint name='sholder'> (line 5)", "did you mean 'shoulder'?"],
    ),
    "unknown joint in the nominal configuration": (
        arm('<wbc><nominal><joint name="sholder" position="0"/></nominal></wbc>'),
        ["<joint name='sholder'> (line 5)", "did you mean 'shoulder'?"],
    ),
    "bad choice": (arm('<wbc base="flying"/>'), ["<wbc> (line 5)", "'flying'", "floating, fixed"]),
    "entity bomb": (
        b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>',
        ["document type declaration", "remove it"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused_by_name(case):
    text, words = WRONG[case]
    problem = only_problem(text)
    for word in words:
        assert word in problem


def test_no_root():
    loop, root = problems(robot(link("a"), link("b"), joint("ab", "a", "b"), joint("ba", "b", "a")))
    assert "<joint name=" in loop and "form a loop" in loop
    assert "no root" in root and "every link is the child of a joint" in root


def test_a_loop_beside_the_root_is_named_link_by_link():
    text = robot(
        link("base"),
        link("a"),
        link("b"),
        link("c"),
        joint("ab", "a", "b"),
        joint("ba", "b", "a"),
        joint("bc", "b", "c"),
    )
    problem = only_problem(text)
    assert "the joints ['ab', 'ba'] form a loop" in problem or "the joints ['ba', 'ab'] form a loop" in problem
    assert "<joint name='" in problem


def test_all_that_is_wrong_is_reported_at_once():
    text = robot(
        link("base"),
        link("a", "-1"),
        link("a"),
        joint("j", "base", "b"),
        joint("k", "base", "a", "hinge"),
        link("c", "x"),
    )
    found = problems(text)
    assert len(found) == 5
    for words in (
        "another of that name",
        "mass is -1",
        "no link 'b'",
        "no joint type 'hinge'",
        "value='x' is not a number",
    ):
        assert sum(words in problem for problem in found) == 1
    with pytest.raises(wbc.WbcError, match=r"\(and 4 more\)"):
        read_urdf(text)


def test_warnings_are_among_the_problems_of_a_file_that_is_refused():
    found = problems(arm(link("c", "-1"), joint("j", "upper", "c", more='<limit lower="-1" upper="1" velocity="1"/>')))
    assert len(found) == 2 and "mass is -1" in found[0] and "no effort limit" in found[1] and "'j'" in found[1]


def test_unknown_passive_joint():
    problem = only_problem(arm(), passive=["shouler"])
    assert "passive" in problem and "did you mean 'shoulder'?" in problem


def test_a_world_root_does_not_float():
    text = robot('<link name="world"/>', link("base"), joint("j", "world", "base"))
    assert "'world', which can't float" in only_problem(text, floating=True)


def test_nothing_floats_twice():
    text = arm(shoulder=joint("shoulder", "base", "upper", "floating"))
    assert "'shoulder' floats on the root link already" in only_problem(text, floating=True)


@pytest.mark.parametrize("path", ["nowhere.urdf", "/", "a\0b", "x" * 10_000])
def test_unreadable_paths_are_named(path):
    with pytest.raises(wbc.WbcError, match="can't read"):
        read_urdf(path)


# --- what is accepted with a warning

UNUSUAL = {
    "massless link": (
        arm(link("tip", None), link("hand"), joint("a", "upper", "tip"), joint("b", "tip", "hand")),
        ["massless links that move", "'tip'"],
    ),
    "no effort limit": (
        moved('<limit lower="-1" upper="1" velocity="1"/>'),
        ["no effort limit", "unlimited", "'shoulder'"],
    ),
    "no velocity limit": (
        moved('<limit lower="-1" upper="1" effort="1" velocity="0"/>'),
        ["no velocity limit", "'shoulder'"],
    ),
    "no limits": (moved(""), ["joints without limits", "'shoulder'"]),
    "no position limits": (moved('<limit effort="1" velocity="1"/>'), ["without position limits", "'shoulder'"]),
    "equal limits": (
        moved('<limit effort="1" velocity="1" lower="0" upper="0"/>'),
        ["equal", "can't move", "'shoulder'"],
    ),
    "odd inertia in a sound whole": (
        arm(link("tool", "0.1", INERTIA.replace("0.1", "0.0")), joint("j", "upper", "tool", "fixed")),
        ["unphysical inertia, sound together", "'tool'"],
    ),
    "damaged shape": (
        arm(upper=link("upper", more='<visual><geometry><box size="1 2"/></geometry></visual>')),
        ["shapes left out", "<box> (line 3)", "'1 2' has 2 values"],
    ),
    "nominal beyond a limit": (
        arm('<wbc><nominal><joint name="shoulder" position="9"/></nominal></wbc>'),
        ["nominal positions outside of the limits", "'shoulder'"],
    ),
    "spring in a ball joint": (
        arm(
            '<wbc><joint name="shoulder" stiffness="2"/></wbc>',
            shoulder=joint("shoulder", "base", "upper", "spherical"),
        ),
        ["springs left out", "'shoulder'"],
    ),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_what_is_unusual_is_a_warning_by_name(case):
    text, words = UNUSUAL[case]
    _, message = warned(text)
    for word in words:
        assert word in message


UNPHYSICAL = {
    "not positive definite": (heavy(ixy="0.2"), ["accepted", "not positive definite", "'upper'"]),
    "triangle inequality": (heavy(izz="0.21"), ["accepted", "triangle inequality", "'upper'"]),
    "stated mass of zero": (
        arm(link("hand"), joint("j", "upper", "hand"), upper=link("upper", "0", INERTIA.replace("0.1", "0"))),
        ["accepted", "stated mass of 0 kg", "'upper'"],
    ),
}


@pytest.mark.parametrize("case", UNPHYSICAL)
def test_unphysical_inertias_are_accepted_when_asked(case):
    text, words = UNPHYSICAL[case]
    only_problem(text)
    _, message = warned(text, strict=False)
    for word in words:
        assert word in message


def test_a_negative_mass_is_never_accepted():
    assert "mass is -3 kg" in only_problem(heavy("-3"), strict=False)


def test_warnings_of_one_kind_come_in_one_that_counts_them():
    names = [f"l{n}" for n in range(50)]
    parts = [link(name) for name in names] + [joint(f"j{name}", "base", name, more="") for name in names]
    _, message = warned(robot(link("base"), *parts))
    assert "'jl39'" in message and "'jl40'" not in message and "and 10 more" in message


def test_a_warning_points_at_the_line_that_asked(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(moved(""))
    for read in (read_urdf, wbc.load):
        with pytest.warns(wbc.WbcWarning, match=str(path)) as caught:
            read(path)
        assert caught[0].filename == __file__


# --- load


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nowhere.urdf", ["no file 'nowhere.urdf'"]),
        ("quadrupd", ["packaged robot", "did you mean 'quadruped'?"]),
        ("", ["packaged robot", "'humanoid'"]),
        ("/", ["is a folder"]),
        ("x" * 5000, ["packaged robot"]),
        ("<robot name='r'/>" + " " * 5000, ["not its text", "read_urdf"]),
        (3, ["can't load 3", "a mujoco.MjModel"]),
    ],
)
def test_load_says_what_it_takes(what, words):
    with pytest.raises(wbc.WbcError) as caught:
        wbc.load(what)
    for word in words:
        assert word in str(caught.value)


def test_load_tells_formats_apart_by_the_first_element(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_bytes(b"<!-- written from <mujoco> -->" + arm())
    assert wbc.load(path, "numpy", passive="shoulder").na == 0


# --- nothing hangs

MEGABYTE = "x" * 1_000_000
NUMBERS = "1 " * 500_000

SLOW = {
    "long name": arm(shoulder=joint(MEGABYTE, "base", "upper", "hinge")),
    "long link name": arm(joint("j", "base", MEGABYTE)),
    "long type": moved(LIMIT, MEGABYTE),
    "long number": heavy("1" * 1_000_000),
    "many numbers": moved(f'<axis xyz="{NUMBERS}"/>'),
    "many corners": arm(f'<wbc><foot link="upper" corners="{NUMBERS}"/></wbc>'),
    "deep": b"<robot>" * 200_000,
    "many attributes": f"<robot {' '.join(f'a{n}=``' for n in range(50_000))}/>".replace("`", "'").encode(),
    "many unknown links": robot(
        *(link(f"link_{n}") for n in range(1000)), *(joint(f"j{n}", f"link {n}", "link_0") for n in range(3000))
    ),
    "many unknown joints": robot(
        link("base"), "<wbc>", *(f'<joint name="a{n}"/>' for n in range(20_000)), "</wbc>", joint("j", "base", "base")
    ),
    "long loop": robot(
        link("base"),
        *(link(f"l{n}") for n in range(2000)),
        *(joint(f"j{n}", f"l{n}", f"l{(n + 1) % 2000}") for n in range(2000)),
    ),
    "entity bomb": (
        "<!DOCTYPE r [<!ENTITY e0 'ha'>"
        + "".join(f"<!ENTITY e{n + 1} '{f'&e{n};' * 10}'>" for n in range(20))
        + "]><robot name='&e20;'/>"
    ).encode(),
}


@pytest.mark.parametrize("case", SLOW)
def test_what_is_made_to_swell_is_refused_in_no_time(case, elapsed):
    with elapsed(2.0):
        found = problems(SLOW[case])
    assert len(found) <= 110 and max(map(len, found)) < 4000


def test_the_name_that_is_proposed_is_the_one_with_the_fewest_gaps() -> None:
    feet = ["FL_calf_foot", "FR_calf_foot", "RL_calf_foot"]
    assert "did you mean 'FL_calf_foot'?" in str(unknown_name("contact", "FL_foot", feet))


def test_a_folder_names_the_files_in_it(tmp_path) -> None:
    for name in ("scene.xml", "robot.urdf", "notes.txt"):
        (tmp_path / name).write_text("")
    with pytest.raises(wbc.WbcError, match=r"is a folder; .* \(there are: 'robot.urdf', 'scene.xml'\)"):
        wbc.load(tmp_path)


def test_a_misspelt_name_among_very_many_is_reported_in_no_time(elapsed):
    names = [f"link_number_{n}" for n in range(300_000)]
    with elapsed(0.5):
        error = unknown_name("link", "link number 1", names)
    assert "did you mean 'link_number_1'?" in str(error) and len(str(error)) < 1000


@pytest.fixture
def elapsed():
    import contextlib
    import time

    @contextlib.contextmanager
    def within(seconds):
        start = time.process_time()
        yield
        assert time.process_time() - start < seconds

    return within


def test_a_joint_has_no_damping_and_no_friction_where_none_is_given():
    for text, found in (
        ('<dynamics friction="0.25"/>', (0.0, 0.25)),
        ('<dynamics damping="0.5"/>', (0.5, 0.0)),
        ("<dynamics/>", (0.0, 0.0)),
        ("", (0.0, 0.0)),
    ):
        shoulder = read_urdf(moved(f"{LIMIT}{text}")).joints["shoulder"]
        assert (shoulder.damping, shoulder.friction) == found


def test_a_thin_plate_is_a_body_and_what_is_flatter_is_none():
    """The greatest moment may be the sum of the other two, and a thousandth more, as files round."""
    for izz in ("0.2", "0.20019"):
        assert read_urdf(heavy(izz=izz)).bodies["upper"].inertia[2, 2] == float(izz)
    assert read_urdf(heavy(ixx="0.05", izz="0.15")).bodies["upper"].inertia[0, 0] == 0.05
    for wrong in ({"izz": "0.20021"}, {"ixx": "0.05", "izz": "0.1502"}):
        with pytest.raises(wbc.WbcError, match="triangle inequality"):
            read_urdf(heavy(**wrong))


def test_joints_whose_limits_exclude_zero_rest_amid_them(tmp_path) -> None:
    """An arm of example-robot-data rested at zero, 0.8 rad beyond its stops: its posture could never be met."""
    text = """<robot name="arm"><link name="base"/>{}</robot>"""
    part = (
        '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="j{0}" type="{1}"><parent link="{2}"/><child link="l{0}"/><axis xyz="0 1 0"/>'
        '<limit lower="{3}" upper="{4}" effort="10" velocity="3"/></joint>'
    )
    parts = part.format(0, "revolute", "base", 0.8, 5.4), part.format(1, "revolute", "l0", -0.1, 3.0)
    file = tmp_path / "arm.urdf"
    file.write_text(text.format("".join(parts) + part.format(2, "prismatic", "l1", -0.5, -0.1)))
    np.testing.assert_allclose(wbc.load(file, floating=False).model.nominal, [3.1, 0.0, -0.3])
