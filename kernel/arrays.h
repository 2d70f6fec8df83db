/* Arrays from Python by the buffer protocol: no numpy headers, one build for every version. */
#ifndef WBC_ARRAYS_H
#define WBC_ARRAYS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>

/* the buffers of one call, released together */
typedef struct {
    Py_buffer *view;
    int count, room;
} Views;

int views_new(Views *views, int room);
void views_release(Views *views); /* the buffers; the room stays */
void views_free(Views *views);

/* Each gives NULL with an error set where the array has another type, shape or layout than told. `what` names it. A size
   of -1 is any. Steps count in entries; they may be NULL for arrays that must be contiguous. */
double *doubles(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable);
double *matrix(Views *views, PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns, ptrdiff_t *row_step,
               ptrdiff_t *column_step);
const long long *indices(Views *views, PyObject *array, const char *what, Py_ssize_t size, Py_ssize_t below);
double *flat(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable); /* of any dimension */
void *bytes_of(Views *views, PyObject *array, const char *what, Py_ssize_t size); /* int8, writable */

#endif
