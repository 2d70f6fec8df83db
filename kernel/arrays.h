/* Arrays that Python holds, by the buffer protocol: no numpy headers, one build for every version. */
#ifndef WBC_ARRAYS_H
#define WBC_ARRAYS_H

#include "interpreter.h"
#include <stddef.h>

/* An array of one dimension (columns = 1) or two, held as long as the view lives. */
typedef struct {
    Py_buffer buffer; /* buffer.obj is NULL where nothing is held */
    double *data;     /* never NULL, aligned; of another type where something else than doubles was asked for */
    Py_ssize_t rows, columns;
    Py_ssize_t row, column; /* from one row or column to the next, in entries */
} View;

/* Each takes hold of an array of doubles. -1, with an exception set and nothing held, where the array has another type,
   shape or layout than told. `what` names it in the message. */
int view_take(View *view, PyObject *array, const char *what, int writable); /* of any shape and layout */
int view_take_shaped(View *view, PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns);
int view_take_vector(View *view, PyObject *array, const char *what, Py_ssize_t size, int writable); /* contiguous */
void view_release(View *view);

static inline double view_at(const View *view, Py_ssize_t i, Py_ssize_t j) {
    return view->data[i * view->row + j * view->column];
}

/* Copies an array of that shape, by rows; -1 with an exception set where it is none. */
int copy_numbers(PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns, double *out);

/* The views of one call, released together. */
typedef struct {
    View *view;
    int count, room;
    int busy; /* between `views_enter` and `views_leave` */
} Views;

int views_new(Views *views, int room);
void views_release(Views *views); /* the arrays; the room stays */
void views_free(Views *views);

/* For views that belong to an object and not to a call. A number that Python code is asked for, or another thread while C
   works without Python's lock, may call the same object: 0, with an exception set, where a call is under way. */
int views_enter(Views *views, const char *what);
void views_leave(Views *views); /* releases the arrays */

/* Each gives NULL, with an exception set, where the array has another type, shape or layout than told. Steps count in
   entries. What was taken before stays held. */
double *doubles(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable);
double *matrix(Views *views, PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns, ptrdiff_t *row_step,
               ptrdiff_t *column_step);
double *flat(Views *views, PyObject *array, const char *what, Py_ssize_t *size, int writable); /* of any dimension */
long long *integers_of(Views *views, PyObject *array, const char *what, Py_ssize_t size);     /* int64, to write to */
signed char *bytes_of(Views *views, PyObject *array, const char *what, Py_ssize_t size);       /* int8, to write to */

/* Copies indices from 0 to `below` - 1: another thread may change the array while nobody looks. 0 with an exception set. */
int copy_indices(PyObject *array, const char *what, Py_ssize_t size, Py_ssize_t below, long long *out);

#endif
