/* The compiled kernel as a Python module. Limited ABI: one build serves every Python from 3.11 on. */
#include "plan.h"

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_size = -1};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *made = PyModule_Create(&module);
    if (made && (plan_register(made) < 0 || tick_plan_register(made) < 0)) Py_CLEAR(made);
    return made;
}
