/* The compiled kernel as a Python module. Limited ABI: one build serves every Python from 3.11 on. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "frames.h"
#include "terms.h"
#include "tree.h"

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_size = -1};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *m = PyModule_Create(&module);
    if (m == NULL) return NULL;
    if (frames_register(m) < 0 || terms_register(m) < 0 || tree_register(m) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
