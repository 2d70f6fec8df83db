"""Surfaces, cones and polygons that a page draws."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from wbc.model.parts import Mesh, Shape
from wbc.web.drawn import cone_triangles, pressure_point, support_polygon
from wbc.web.gaps import Gap
from wbc.web.panels import nearest
from wbc.web.picture import Touch
from wbc.web.shapes import surfaces, triangles
from wbc.web.stage import GREY, RED, YELLOW, gap_color


def volume(vertices, faces) -> float:
    """Of what a closed surface encloses, where its triangles face outwards."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


@pytest.mark.parametrize(
    ("kind", "size", "wanted"),
    [
        ("box", (0.2, 0.3, 0.4), 0.024),
        ("sphere", (0.5,), 4 / 3 * np.pi * 0.125),
        ("cylinder", (0.5, 2.0), np.pi * 0.25 * 2.0),
        ("capsule", (0.5, 2.0), np.pi * 0.25 * 2.0 + 4 / 3 * np.pi * 0.125),
    ],
)
def test_shapes_enclose_what_they_should(kind, size, wanted) -> None:
    assert volume(*triangles(Shape("body", kind, size))) == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize("name", ["quadruped", "humanoid", "arm", "omni"])
def test_packaged_robots_have_surfaces_on_their_bodies(name) -> None:
    model = wbc.load(name, "numpy").model
    found = list(surfaces(model))
    assert len(found) == len([shape for shape in model.shapes if not shape.collides])
    assert {surface.body for surface in found} <= set(model.bodies)
    for surface, shape in zip(found, [s for s in model.shapes if not s.collides], strict=True):
        np.testing.assert_allclose(
            (surface.vertices.max(0) + surface.vertices.min(0)) / 2, shape.pose[:3, 3], atol=2e-2
        )


def test_points_of_a_mesh_are_shown_by_their_hull() -> None:
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    model = wbc.load("arm", "numpy").model
    body = model.root
    bare = model.replace(shapes=(), meshes=[Mesh(body, np.vstack([cube, [[0.5, 0.5, 0.5]]])), Mesh(body, cube[:3])])
    (only,) = surfaces(bare)  # the flat one has no inside
    assert volume(only.vertices, only.faces) == pytest.approx(1.0)
    assert len(only.vertices) == 8


def test_meshes_of_an_mjcf_are_those_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    spec = """<mujoco><asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset><worldbody>
      <body name="a" pos="0 0 1"><freejoint/><geom type="mesh" mesh="m" rgba="1 0 0 1"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3" pos="0 0 2" quat="0 1 0 0"/></body></worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(spec)
    found = list(surfaces(wbc.load(m, "numpy").model))
    assert [surface.body for surface in found] == ["a", "a"]
    assert volume(found[0].vertices, found[0].faces) == pytest.approx(1 / 6, rel=1e-6)
    assert found[0].color == (1.0, 0.0, 0.0, 1.0)
    np.testing.assert_allclose(found[0].vertices.min(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(np.ptp(found[1].vertices, axis=0), [0.2, 0.4, 0.6], rtol=0.02)
    np.testing.assert_allclose(found[1].vertices.mean(axis=0), [0, 0, 2], atol=1e-2)


def test_meshes_of_a_urdf_are_read_from_its_folder(tmp_path) -> None:
    pytest.importorskip("trimesh")
    corners = (
        ["0 0 0", "0 1 0", "1 0 0"],
        ["0 0 0", "1 0 0", "0 0 1"],
        ["0 0 0", "0 0 1", "0 1 0"],
        ["1 0 0", "0 1 0", "0 0 1"],
    )
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {c}\n" for c in three) + "endloop\nendfacet\n"
        for three in corners
    )
    (tmp_path / "part.stl").write_text(f"solid part\n{facets}endsolid part\n")
    link = """<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
      <visual><origin xyz="0 0 1"/><geometry><mesh filename="{file}" scale="2 2 2"/></geometry></visual></link>"""
    text = f"""<robot name="r">{link.format(name="a", file="part.stl")}{link.format(name="b", file="none.stl")}
      <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    found = list(surfaces(wbc.load(str(tmp_path / "r.urdf"), "numpy", floating=False).model))
    assert [surface.body for surface in found] == ["a"]
    assert volume(found[0].vertices, found[0].faces) == pytest.approx(8 / 6)
    assert found[0].vertices[:, 2].min() == pytest.approx(1.0)


def test_a_cone_has_the_angle_of_its_friction() -> None:
    normal = np.array([0.6, 0.0, 0.8])
    vertices, faces = cone_triangles(0.5, normal, 0.2)
    along = vertices[1:] @ normal
    np.testing.assert_allclose(along, 0.2)
    np.testing.assert_allclose(np.linalg.norm(vertices[1:] - np.outer(along, normal), axis=1), 0.1)
    assert faces.max() == len(vertices) - 1


def test_polygons_of_points_lines_and_areas() -> None:
    square = np.array([[0, 0, 5], [1, 0, 6], [1, 1, 7], [0, 1, 8], [0.5, 0.5, 9.0]])
    assert len(support_polygon(square)) == 4
    np.testing.assert_allclose(sorted(support_polygon(np.array([[0, 0], [2, 2], [1, 1.0]])).tolist()), [[0, 0], [2, 2]])
    assert support_polygon(np.zeros((3, 2))) is None


def test_a_wrench_is_drawn_where_the_sole_is_pressed() -> None:
    pose = np.eye(4)
    pose[:3, 3] = [1.0, 2.0, 0.0]
    where, force = np.array([0.05, -0.03, 0.0]), np.array([10.0, 5.0, 100.0])
    wrench = np.append(force, np.cross(where, force))
    sole = Touch("sole", "sole", 0.6)
    np.testing.assert_allclose(pressure_point(pose, wrench, sole), pose[:3, 3] + where, atol=1e-12)
    np.testing.assert_allclose(pressure_point(pose, force, sole), pose[:3, 3])
    np.testing.assert_allclose(pressure_point(pose, np.zeros(6), sole), pose[:3, 3])


def test_a_distance_is_told_with_its_margin() -> None:
    gap = Gap(("ball", "tool"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.021), 0.021, 0.03)
    assert gap_color(gap) == RED and gap_color(gap._replace(distance=0.05)) == YELLOW
    assert gap_color(gap._replace(distance=0.1)) == GREY
    assert nearest(gap._replace(distance=-2e-4, margin=0.0)).endswith(", 0 mm")
    assert nearest(gap).endswith("21 mm (margin 30 mm)") and nearest(gap._replace(margin=0.0)).endswith("21 mm")
