/* How pairs of solids move: the arithmetic of wbc/collision/proximity.py, which is its reference and tells what is
   computed. Solids have poses of 16 numbers, twists of 6, and the origins of the bodies that carry them. */
#include "arrays.h"
#include "module.h"
#include "taking.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

#define MOST 20 /* arrays of a call */

static PyObject *told(Views *views, int bad) {
    views_release(views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* pairs_close(poses, origins, twists, radii, planes, first, second, horizon, within, close): see `Proximity._close` */
static PyObject *pairs_close(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[MOST];
    Views views = {.view = room, .room = MOST};
    if (!enough("pairs_close", count, 10)) return NULL;
    int bad = 0;
    const double *poses;
    const Py_ssize_t n = solids_of(&views, args[0], &poses, &bad), pairs = length(args[5], &bad);
    const double *origins = numbers(&views, args[1], "origins", 3 * n, 0, &bad);
    const double *V = numbers(&views, args[2], "twists", 6 * n, 0, &bad);
    const double *radii = numbers(&views, args[3], "radii", n, 0, &bad);
    const signed char *planes = bad ? NULL : bytes_of(&views, args[4], "planes", n);
    if (!planes) bad = 1;
    long long *first = indices(args[5], "first", pairs, n, &bad), *second = indices(args[6], "second", pairs, n, &bad);
    const double *horizon = numbers(&views, args[7], "horizon", 3, 0, &bad);
    double *within = numbers(&views, args[8], "within", pairs, 1, &bad);
    signed char *near = bad ? NULL : bytes_of(&views, args[9], "close", pairs);
    double *fast = near ? PyMem_Malloc(sizeof(double) * (size_t)(n + 1)) : NULL;
    if (near && !fast) PyErr_NoMemory();
    if (!fast) bad = 1;
    for (Py_ssize_t k = 0; !bad && k < n; k++) {
        double arm[3];
        for (int i = 0; i < 3; i++) arm[i] = poses[16 * k + 4 * i + 3] - origins[3 * k + i];
        const double *v = V + 6 * k, *w = v + 3;
        fast[k] = sqrt(dot(v, v)) + sqrt(dot(w, w)) * (sqrt(dot(arm, arm)) + radii[k]);
    }
    for (Py_ssize_t k = 0; !bad && k < pairs; k++) {
        const long long a = first[k], b = second[k];
        const double *p = poses + 16 * a, *q = poses + 16 * b, speed = fmax(fast[a] + fast[b], 0.0);
        const double way[3] = {q[3] - p[3], q[7] - p[7], q[11] - p[11]};
        within[k] = horizon[0] + speed * (horizon[1] + speed * (0.5 / horizon[2]));
        const double reach = radii[a] + radii[b] + within[k];
        if (planes[a])
            near[k] = way[0] * p[2] + way[1] * p[6] + way[2] * p[10] < reach;
        else if (planes[b])
            near[k] = -(way[0] * q[2] + way[1] * q[6] + way[2] * q[10]) < reach;
        else
            near[k] = dot(way, way) < reach * reach;
    }
    PyMem_Free(fast);
    PyMem_Free(first);
    PyMem_Free(second);
    return told(&views, bad);
}

/* bodies_carried(poses, origins, twists, bias, t, later, twists later, origins later, turn): see `_carried` */
static PyObject *bodies_carried(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[MOST];
    Views views = {.view = room, .room = MOST};
    if (!enough("bodies_carried", count, 9)) return NULL;
    int bad = 0;
    const double t = PyFloat_AsDouble(args[4]), *poses;
    if (PyErr_Occurred()) bad = 1;
    const Py_ssize_t n = solids_of(&views, args[0], &poses, &bad);
    const double *origins = numbers(&views, args[1], "origins", 3 * n, 0, &bad);
    const double *V = numbers(&views, args[2], "twists", 6 * n, 0, &bad);
    const double *bias = numbers(&views, args[3], "bias", 6 * n, 0, &bad);
    double *later = numbers(&views, args[5], "later", 16 * n, 1, &bad);
    double *W = numbers(&views, args[6], "twists later", 6 * n, 1, &bad);
    double *moved = numbers(&views, args[7], "origins later", 3 * n, 1, &bad);
    double *turned = numbers(&views, args[8], "turn", 9 * n, 1, &bad);
    for (Py_ssize_t k = 0; !bad && k < n; k++) {
        const double *v = V + 6 * k, *b = bias + 6 * k, *p = poses + 16 * k;
        double phi[3], arm[3], way[3], square[9], cube[9], R[9], *T = turned + 9 * k, *q = later + 16 * k;
        for (int i = 0; i < 3; i++) {
            phi[i] = v[3 + i] * t + b[3 + i] * (t * t / 2);
            arm[i] = p[4 * i + 3] - origins[3 * k + i];
            moved[3 * k + i] = origins[3 * k + i] + v[i] * t + b[i] * (t * t / 2);
            for (int j = 0; j < 3; j++) R[3 * i + j] = p[4 * i + j];
        }
        const double K[9] = {0.0, -phi[2], phi[1], phi[2], 0.0, -phi[0], -phi[1], phi[0], 0.0};
        multiply(K, K, square);
        multiply(K, square, cube);
        for (int i = 0; i < 9; i++) T[i] = (i % 4 == 0) + K[i] + 0.5 * square[i] + cube[i] / 6.0;
        multiply(T, R, cube);
        turn(T, arm, way);
        memcpy(q + 12, p + 12, 4 * sizeof *q);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) q[4 * i + j] = cube[3 * i + j];
            q[4 * i + 3] = moved[3 * k + i] + way[i];
        }
        for (int i = 0; i < 6; i++) W[6 * k + i] = v[i] + b[i] * t;
    }
    return told(&views, bad);
}

/* What two points of a pair do: the arms to them, and their velocities. */
typedef struct {
    double arm[2][3], speed[2][3];
} Ends;

static double closing(const double *normal, const double *const points[2], const long long of[2], const double *origins,
                      const double *V, Ends *e) {
    double rate = 0.0;
    for (int side = 0; side < 2; side++) {
        const double *v = V + 6 * of[side], *o = origins + 3 * of[side];
        for (int i = 0; i < 3; i++) e->arm[side][i] = points[side][i] - o[i];
        cross(v + 3, e->arm[side], e->speed[side]);
        for (int i = 0; i < 3; i++) e->speed[side][i] += v[i];
    }
    for (int i = 0; i < 3; i++) rate += normal[i] * (e->speed[1][i] - e->speed[0][i]);
    return rate;
}

/* pairs_closing(normal, first, second, one, other, twists, origins, rate): see `_closing` */
static PyObject *pairs_closing(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[MOST];
    Views views = {.view = room, .room = MOST};
    if (!enough("pairs_closing", count, 8)) return NULL;
    int bad = 0;
    Py_ssize_t n = 0;
    const double *V = flat(&views, args[5], "twists", &n, 0);
    if (!V) bad = 1;
    n /= 6;
    const Py_ssize_t rows = length(args[3], &bad);
    if (!bad) numbers(&views, args[5], "twists", 6 * n, 0, &bad);
    const double *origins = numbers(&views, args[6], "origins", 3 * n, 0, &bad);
    const double *normal = numbers(&views, args[0], "normal", 3 * rows, 0, &bad);
    const double *first = numbers(&views, args[1], "first", 3 * rows, 0, &bad);
    const double *second = numbers(&views, args[2], "second", 3 * rows, 0, &bad);
    double *rate = numbers(&views, args[7], "rate", rows, 1, &bad);
    long long *one = indices(args[3], "one", rows, n, &bad), *other = indices(args[4], "other", rows, n, &bad);
    for (Py_ssize_t k = 0; !bad && k < rows; k++) {
        Ends ends;
        rate[k] = closing(normal + 3 * k, (const double *const[]){first + 3 * k, second + 3 * k},
                          (const long long[]){one[k], other[k]}, origins, V, &ends);
    }
    PyMem_Free(one);
    PyMem_Free(other);
    return told(&views, bad);
}

/* a row of n' J of the two points, J of the bodies, each 6 x nv */
static void row_of(const double normal[3], const Ends *e, const double *const J[2], Py_ssize_t nv, double *out) {
    double by[2][6];
    for (int side = 0; side < 2; side++) {
        memcpy(by[side], normal, 3 * sizeof(double));
        cross(e->arm[side], normal, by[side] + 3);
    }
    for (Py_ssize_t j = 0; j < nv; j++) {
        double sum = 0.0;
        for (int i = 0; i < 6; i++) sum += by[1][i] * J[1][i * nv + j] - by[0][i] * J[0][i * nv + j];
        out[j] = sum;
    }
}

/* pairs_rates(seen..., again..., one, other, on, twists, origins, twists later, origins later, J, step, jump,
   rate, drift, rows): normal, first and second points now and a moment later; see `Proximity._rates` */
static PyObject *pairs_rates(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[MOST];
    Views views = {.view = room, .room = MOST};
    if (!enough("pairs_rates", count, 19)) return NULL;
    int bad = 0;
    const double step = PyFloat_AsDouble(args[14]), jump = PyFloat_AsDouble(args[15]);
    if (PyErr_Occurred()) bad = 1;
    const Py_ssize_t rows = length(args[6], &bad), n = length(args[8], &bad);
    const double *parts[6];
    static const char *const names[] = {"normal", "first", "second", "normal later", "first later", "second later"};
    for (int i = 0; i < 6; i++) parts[i] = numbers(&views, args[i], names[i], 3 * rows, 0, &bad);
    const double *V = numbers(&views, args[9], "twists", 6 * n, 0, &bad);
    const double *origins = numbers(&views, args[10], "origins", 3 * n, 0, &bad);
    const double *W = numbers(&views, args[11], "twists later", 6 * n, 0, &bad);
    const double *moved = numbers(&views, args[12], "origins later", 3 * n, 0, &bad);
    double *rate = numbers(&views, args[16], "rate", rows, 1, &bad);
    double *drift = numbers(&views, args[17], "drift", rows, 1, &bad);
    Py_ssize_t size = 0, entries = 0;
    const double *J = bad ? NULL : flat(&views, args[13], "J", &size, 0);
    double *out = J ? flat(&views, args[18], "rows", &entries, 1) : NULL;
    if (!out) bad = 1;
    const Py_ssize_t nv = rows ? entries / rows : 0, bodies = nv ? size / (6 * nv) : 0;
    if (!bad && entries != rows * nv) {
        PyErr_Format(PyExc_ValueError, "%zd numbers are no %zd rows", entries, rows);
        bad = 1;
    }
    long long *one = indices(args[6], "one", rows, n, &bad), *other = indices(args[7], "other", rows, n, &bad);
    long long *on = bad || !nv ? NULL : indices(args[8], "on", n, bodies, &bad);
    for (Py_ssize_t k = 0; !bad && nv && k < rows; k++) {
        const long long of[2] = {one[k], other[k]};
        const double *const now[2] = {parts[1] + 3 * k, parts[2] + 3 * k};
        const double *const then[2] = {parts[4] + 3 * k, parts[5] + 3 * k};
        Ends ends, afterwards;
        double far = 0.0;
        rate[k] = closing(parts[0] + 3 * k, now, of, origins, V, &ends);
        drift[k] = (closing(parts[3] + 3 * k, then, of, moved, W, &afterwards) - rate[k]) / step;
        for (int side = 0; side < 2; side++) {
            double way[3];
            for (int i = 0; i < 3; i++) way[i] = then[side][i] - now[side][i] - step * ends.speed[side][i];
            far = fmax(far, dot(way, way));
        }
        if (far > jump * jump) drift[k] = 0.0;
        row_of(parts[0] + 3 * k, &ends, (const double *const[]){J + 6 * nv * on[of[0]], J + 6 * nv * on[of[1]]}, nv,
               out + nv * k);
    }
    PyMem_Free(one);
    PyMem_Free(other);
    PyMem_Free(on);
    return told(&views, bad);
}

static PyMethodDef methods[] = {
    {"pairs_close", (PyCFunction)(void (*)(void))pairs_close, METH_FASTCALL, "Pairs that may be near."},
    {"bodies_carried", (PyCFunction)(void (*)(void))bodies_carried, METH_FASTCALL, "Where solids are a moment later."},
    {"pairs_closing", (PyCFunction)(void (*)(void))pairs_closing, METH_FASTCALL, "How fast pairs part."},
    {"pairs_rates", (PyCFunction)(void (*)(void))pairs_rates, METH_FASTCALL, "How distances change."},
    {NULL, NULL, 0, NULL}};

int pairs_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
