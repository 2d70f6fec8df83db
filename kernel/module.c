/* The compiled kernel as a Python module. Limited ABI: one build serves every Python from 3.11 on. */
#include "module.h"

#include "tick.h"

static PyObject *choose_plain(PyObject *self, PyObject *nothing) {
    (void)self, (void)nothing;
    solver_choose(1);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"choose_plain", choose_plain, METH_NOARGS, "From now on solve as on a processor without AVX2."}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__kernel(void) {
    static int (*const parts[])(PyObject *) = {plan_register, tick_plan_register, poses_register,  law_register, frames_register,
                                               terms_register, tree_register, filter_register,   feet_register,
                                               pairs_register, edges_register, stopping_register};
    PyObject *made = PyModule_Create(&module);
    for (size_t i = 0; made && i < sizeof parts / sizeof *parts; i++)
        if (parts[i](made) < 0) Py_CLEAR(made);
    return made;
}
