"""The controller: a state in, torques out. Read `controller` first.

`stack` and `support` say which tasks and contacts are in force. `assembly` makes levels of rows of them, and
`reduction` makes the levels smaller before they are solved. `solution`, `evidence`, `certificate` and `explanation` are
what comes out. `fallback` is the torque where nothing can be solved.
"""
