/* How far poses are from poses: positions, and rotation vectors in the world (ETH 2.251). */
#include "arrays.h"
#include "module.h"

#include <math.h>

/* The rotation vector of D R', of length in [0, pi]. It goes through the quaternion: of the four rows of 4 q q' the one
   with the largest diagonal entry is a multiple of q, and nothing cancels at any angle. */
static void rotation_error(const double *D, const double *R, double *phi) {
    double E[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E[i][j] = D[4 * i] * R[4 * j] + D[4 * i + 1] * R[4 * j + 1] + D[4 * i + 2] * R[4 * j + 2];
    double x = E[2][1] - E[1][2], y = E[0][2] - E[2][0], z = E[1][0] - E[0][1];
    double xy = E[0][1] + E[1][0], xz = E[0][2] + E[2][0], yz = E[1][2] + E[2][1];
    double a = E[0][0], b = E[1][1], c = E[2][2];
    double rows[4][4] = {{1.0 + a + b + c, x, y, z}, {x, 1.0 + a - b - c, xy, xz},
                         {y, xy, 1.0 - a + b - c, yz}, {z, xz, yz, 1.0 - a - b + c}};
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (rows[i][i] > rows[best][best]) best = i;
    const double *q = rows[best];
    double sign = q[0] < 0.0 ? -1.0 : 1.0, length = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double scale = length > 0.0 ? 2.0 * sign * atan2(length, sign * q[0]) / length : 0.0;
    for (int i = 0; i < 3; i++) phi[i] = scale * q[1 + i];
}

/* pose_errors(desired, measured, out): n poses each, 16 n numbers row by row; out gets 6 n */
static PyObject *pose_errors(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[3];
    Views views = {.view = room, .room = 3};
    if (count != 3) {
        PyErr_Format(PyExc_TypeError, "pose_errors takes 3 arguments, not %zd", count);
        return NULL;
    }
    Py_ssize_t size[3] = {0, 0, 0};
    const double *desired = flat(&views, args[0], "desired", size, 0);
    const double *measured = desired ? flat(&views, args[1], "measured", size + 1, 0) : NULL;
    double *out = measured ? flat(&views, args[2], "out", size + 2, 1) : NULL;
    const Py_ssize_t poses = size[0] / 16;
    if (out && (size[0] % 16 || size[1] != size[0] || size[2] != 6 * poses)) {
        PyErr_Format(PyExc_ValueError, "poses have 16 numbers each and errors 6, not %zd, %zd and %zd", size[0], size[1],
                     size[2]);
        out = NULL;
    }
    for (Py_ssize_t k = 0; out && k < poses; k++) {
        const double *D = desired + 16 * k, *R = measured + 16 * k;
        for (int i = 0; i < 3; i++) out[6 * k + i] = D[4 * i + 3] - R[4 * i + 3];
        rotation_error(D, R, out + 6 * k + 3);
    }
    views_release(&views);
    if (!out) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"pose_errors", (PyCFunction)(void (*)(void))pose_errors, METH_FASTCALL, "How far poses are from poses."},
    {NULL, NULL, 0, NULL}};

int poses_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
