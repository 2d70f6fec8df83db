"""The array types that the annotations speak of."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
"""An array of floats; its shape, unit and frame stand in the docstring of whoever takes or gives it."""

IntArray: TypeAlias = npt.NDArray[np.intp]
"""An array of indices."""

ArrayLike: TypeAlias = npt.ArrayLike
"""Whatever numpy turns into an array."""
