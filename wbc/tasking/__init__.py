"""What a task is: rows lower ≤ A x ≤ upper in the unknowns x of a tick, targets and gains.

`task` is the class that every task derives from. `problem` has the rows and the layout of x. `target` is for tasks that
follow a target, `gains` for how fast they do. `levels` is the result of `a + b` and `a / b`.
"""
