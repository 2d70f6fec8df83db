/* The dynamics of a tree of rigid parts. */
#ifndef WBC_TREE_H
#define WBC_TREE_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the type of tree.c to the module. */
int tree_register(PyObject *module);

#endif
