/* Arguments of functions that take many arrays: after one that is bad, all that follow are. */
#ifndef WBC_TAKING_H
#define WBC_TAKING_H

#include "arrays.h"

/* Each sets an exception, and *bad, where the argument is not what it should be. */
double *numbers(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable, int *bad);
long long *integers(Views *views, PyObject *array, const char *what, Py_ssize_t size, int *bad); /* to write to */
long long *indices(PyObject *array, const char *what, Py_ssize_t size, Py_ssize_t below, int *bad); /* a copy, to free */
Py_ssize_t length(PyObject *array, int *bad);
Py_ssize_t solids_of(Views *views, PyObject *array, const double **poses, int *bad); /* 16 numbers each */
int enough(const char *name, Py_ssize_t count, Py_ssize_t wanted);                   /* arguments; 0: an exception */

#endif
