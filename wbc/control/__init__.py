"""The controller: it turns a state into torques. Read `controller` first.

`stack` and `support` say which tasks and contacts are in force. `assembly` makes levels of rows of them, and
`reduction` makes the levels smaller before they are solved. `solution`, `evidence`, `certificate` and `explanation`
describe the result. `fallback` is the torque of a tick that can't be solved.
"""
