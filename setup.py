"""Builds the compiled kernel where a C compiler is found; without one, numpy does its work."""

from pathlib import Path

from setuptools import Extension, setup

SOURCES = sorted(str(path) for path in Path("kernel").glob("*.c"))
INCLUDED = sorted(str(path) for path in Path("kernel").rglob("*.[ch]"))

setup(
    ext_modules=[
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
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
