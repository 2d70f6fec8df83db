"""Cylindrical and spherical coordinates and their maps E_P."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.equations import equation
from wbc.geometry import position

from .support import PI, TINY, close, derivative, few, many, numbers, vectors

pytestmark = pytest.mark.filterwarnings("error")
coordinate = st.one_of(st.sampled_from(TINY), numbers(-5, 5))
points = st.tuples(coordinate, coordinate, coordinate).map(np.array)
azimuths = st.one_of(st.sampled_from([0.0, PI, -PI, PI / 2]), numbers(-PI, PI))
polars = st.one_of(st.sampled_from([0.0, PI, 1e-14, 1e-3, PI - 1e-3]), numbers(0, PI))
radii = st.one_of(st.sampled_from([0.0, 1e-3]), numbers(0.01, 5))


@given(points)
@many
def test_round_trips_also_on_the_axis_and_at_the_origin(r):
    cylindrical = position.cartesian_to_cylindrical(r)
    close(position.cylindrical_to_cartesian(cylindrical), r, 2e-15)
    spherical = position.cartesian_to_spherical(r)
    close(position.spherical_to_cartesian(spherical), r, 4e-15)
    assert cylindrical[0] >= 0
    assert spherical[0] >= 0
    assert 0 <= spherical[2] <= PI
    if not r[:2].any():
        assert cylindrical[1] == spherical[1] == 0


def test_by_hand():
    """ETH (2.6), (2.8)."""
    close(position.cylindrical_to_cartesian([2, PI / 2, 3]), [0, 2, 3], 1e-15)
    close(position.cartesian_to_cylindrical([-2, 0, 3]), [2, PI, 3], 1e-15)
    close(position.cartesian_to_cylindrical([-0.0, -0.0, 3]), [0, 0, 3], 0)
    close(position.spherical_to_cartesian([2, 0, PI / 2]), [2, 0, 0], 1e-15)
    close(position.cartesian_to_spherical([0, -2, 0]), [2, -PI / 2, PI / 2], 1e-15)
    close(position.cartesian_to_spherical([0, 0, -2]), [2, 0, PI], 1e-15)
    close(position.cartesian_to_spherical([0, 0, -0.0]), [0, 0, 0], 0)


@equation("ETH 2.10", "velocity from coordinate rates", position.cylindrical_rates_to_velocity)
@equation("ETH 2.11", "coordinate rates from velocity", position.velocity_to_cylindrical_rates)
@given(radii, azimuths, numbers(-5, 5), vectors)
@few
def test_cylindrical_rates(rho, theta, z, rates):
    chi = np.array([rho, theta, z])
    E, inverse = position.cylindrical_rates_to_velocity(chi), position.velocity_to_cylindrical_rates(chi)
    close(E @ rates, derivative(lambda t: position.cylindrical_to_cartesian(chi + t * rates)))
    close(inverse, np.linalg.inv(E) if rho else np.linalg.pinv(E), 1e-12)


@given(radii, azimuths, polars, vectors)
@few
def test_spherical_rates(r, theta, phi, rates):
    chi = np.array([r, theta, phi])
    E, inverse = position.spherical_rates_to_velocity(chi), position.velocity_to_spherical_rates(chi)
    close(E @ rates, derivative(lambda t: position.spherical_to_cartesian(chi + t * rates)))
    if abs(r * np.sin(phi)) > 1e-7:
        close(E @ inverse, np.eye(3), 1e-12)
    elif r == 0 or abs(np.sin(phi)) < 1e-12:
        close(inverse, np.linalg.pinv(E, rcond=1e-9), 1e-10)
    assert np.all(np.isfinite(inverse))
