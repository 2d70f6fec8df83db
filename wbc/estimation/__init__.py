"""Where the base is, what the feet feel, and what pushes the robot."""
