/* The compiled kernel as a Python module. Limited ABI: one build serves every Python from 3.11 on. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_size = -1};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&module); }
