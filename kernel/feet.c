/* Feet as an inertial sensor sees them: `wbc.estimation.feet` is the reference and tells what is computed. */
#include "arrays.h"
#include "module.h"
#include "taking.h"
#include "vectors.h"

#define SEEN 11 /* arguments of feet_seen */
#define ROLLED 6

/* out = R' x for a matrix by rows */
static void turn_back(const double R[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

/* out = encoder^2 R' J J' R + kinematics^2 of three rows of J, from a column on */
static void spread(const double R[9], const double *J, Py_ssize_t nv, Py_ssize_t first, double encoder, double kinematics,
                   double out[9]) {
    double G[9], half[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (Py_ssize_t k = first; k < nv; k++) sum += J[i * nv + k] * J[j * nv + k];
            G[3 * i + j] = G[3 * j + i] = encoder * encoder * sum;
        }
    for (int i = 0; i < 3; i++) turn_back(R, G + 3 * i, half + 3 * i); /* G R */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = R[i] * half[j] + R[3 + i] * half[3 + j] + R[6 + i] * half[6 + j] +
                             (i == j ? kinematics * kinematics : 0.0);
}

/* feet_seen(poses, J, velocity, first, turn, arm, encoder, kinematics, places, noise, rolling): of how frames move in the base
   (`FramesMotion`; the columns of joints in J are those from `first` on) it writes the last three. */
static PyObject *feet_seen(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[SEEN];
    Views views = {.view = room, .room = SEEN};
    if (!enough("feet_seen", count, SEEN)) return NULL;
    const Py_ssize_t first = PyLong_AsSsize_t(args[3]);
    const double encoder = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(args[6]);
    const double kinematics = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(args[7]);
    if (PyErr_Occurred()) return NULL;
    Py_ssize_t size = 0, entries = 0;
    double *places = flat(&views, args[8], "places", &size, 1);
    int bad = !places;
    const Py_ssize_t feet = size / 3;
    const double *poses = numbers(&views, args[0], "poses", 16 * feet, 0, &bad);
    const double *J = bad ? NULL : flat(&views, args[1], "J", &entries, 0);
    if (!J) bad = 1;
    const double *velocity = numbers(&views, args[2], "velocity", 6 * feet, 0, &bad);
    const double *R = numbers(&views, args[4], "turn", 9, 0, &bad), *arm = numbers(&views, args[5], "arm", 3, 0, &bad);
    double *noise = numbers(&views, args[9], "noise", 9 * feet, 1, &bad);
    double *rolling = numbers(&views, args[10], "rolling", 3 * feet, 1, &bad);
    const Py_ssize_t nv = feet ? entries / (6 * feet) : first;
    if (!bad && (size != 3 * feet || entries != 6 * feet * nv || first < 0 || first > nv)) {
        PyErr_Format(PyExc_ValueError, "%zd numbers in J and columns from %zd on do not fit %zd feet", entries, first, feet);
        bad = 1;
    }
    for (Py_ssize_t k = 0; !bad && k < feet; k++) {
        const double *pose = poses + 16 * k, from[3] = {pose[3] - arm[0], pose[7] - arm[1], pose[11] - arm[2]};
        turn_back(R, from, places + 3 * k);
        turn_back(R, velocity + 6 * k + 3, rolling + 3 * k);
        spread(R, J + 6 * k * nv, nv, first, encoder, kinematics, noise + 9 * k);
    }
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

/* feet_rolled(rolling, rate, rotation, radii, dt, out): how far the centres of balls roll on the ground that turn by `rolling`
   in the base and with the base by `rate` */
static PyObject *feet_rolled(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[ROLLED];
    Views views = {.view = room, .room = ROLLED};
    if (!enough("feet_rolled", count, ROLLED)) return NULL;
    const double dt = PyFloat_AsDouble(args[4]);
    if (PyErr_Occurred()) return NULL;
    Py_ssize_t feet = 0;
    const double *radii = flat(&views, args[3], "radii", &feet, 0);
    int bad = !radii;
    const double *rolling = numbers(&views, args[0], "rolling", 3 * feet, 0, &bad);
    const double *rate = numbers(&views, args[1], "rate", 3, 0, &bad), *R = numbers(&views, args[2], "rotation", 9, 0, &bad);
    double *out = numbers(&views, args[5], "out", 3 * feet, 1, &bad);
    for (Py_ssize_t k = 0; !bad && k < feet; k++) {
        const double *own = rolling + 3 * k, omega[3] = {own[0] + rate[0], own[1] + rate[1], own[2] + rate[2]};
        double spin[3];
        turn(R, omega, spin);
        out[3 * k] = spin[1] * radii[k] * dt;
        out[3 * k + 1] = -spin[0] * radii[k] * dt;
        out[3 * k + 2] = 0.0;
    }
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"feet_rolled", (PyCFunction)(void (*)(void))feet_rolled, METH_FASTCALL, "How far balls roll on the ground."},
    {"feet_seen", (PyCFunction)(void (*)(void))feet_seen, METH_FASTCALL, "Feet as an inertial sensor sees them."},
    {NULL, NULL, 0, NULL}};

int feet_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
