/* Reading arrays of doubles that Python holds, and small vectors. */
#ifndef WBC_FRAMES_H
#define WBC_FRAMES_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A vector or matrix in memory that Python owns, held as long as the view lives. */
typedef struct {
    Py_buffer buffer; /* buffer.obj is NULL where nothing is held */
    double *data;
    Py_ssize_t rows, columns;
    Py_ssize_t row, column; /* from one row or column to the next, in doubles */
} View;

/* Takes hold of an array of doubles of one dimension (columns = 1) or two. -1, with an exception set, if it is none. */
int view_take(View *view, PyObject *array, const char *name, int writable);

/* The same, and refuses any other shape; the name is for the message. */
int view_take_shaped(View *view, PyObject *array, const char *name, Py_ssize_t rows, Py_ssize_t columns);

/* Takes hold of a contiguous vector of `size` doubles, to write to. */
int view_take_output(View *view, PyObject *array, Py_ssize_t size);

void view_release(View *view);

static inline double view_at(const View *view, Py_ssize_t i, Py_ssize_t j) {
    return view->data[i * view->row + j * view->column];
}

/* out = a x b; out is neither of them. */
static inline void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = R x for a matrix by rows; out is not x. */
static inline void turn(const double R[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

/* C = A B for matrices by rows; C is neither of them. */
static inline void multiply(const double A[9], const double B[9], double C[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* Adds the types of frames.c to the module. */
int frames_register(PyObject *module);

#endif
