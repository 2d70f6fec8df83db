"""Builds the compiled kernel where a C compiler is found; without one, numpy does its work.

With WBC_KERNEL=off in the environment nothing is compiled: what is built then runs on any machine.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

SOURCES = sorted(str(path) for path in Path("kernel").glob("*.c"))
INCLUDED = sorted(str(path) for path in Path("kernel").rglob("*.[ch]"))

WITHOUT = os.environ.get("WBC_KERNEL", "").lower() == "off"

setup(
    ext_modules=[]
    if WITHOUT
    else [
        Extension(
            "wbc._kernel",
            SOURCES,
            depends=INCLUDED,
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=["-O3", "-std=c11"],  # -O2 loses a quarter
            py_limited_api=True,
            optional=True,
        )
    ],
    options={} if WITHOUT else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
