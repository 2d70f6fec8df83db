"""The equations of motion in other forms: summed over bodies, recursive, in other velocities and coordinates."""
