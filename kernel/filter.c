/* The steps of `wbc.estimation.InvariantFilter`, which is their reference and tells what they compute. Errors stand in the
   order of rotation, velocity, position, biases of gyroscope and accelerometer, footholds: three numbers each. */
#include "arrays.h"
#include "module.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum { R = 0, V = 3, P = 6, BG = 9, BA = 12, FIRST = 15 };
#define MOST_FEET 16
#define MOST (FIRST + 3 * MOST_FEET)

typedef struct {
    double *rotation, *velocity, *position, *gyro_bias, *accelerometer_bias, *footholds, *covariance;
    const signed char *standing;
    Py_ssize_t feet, size;
} Filter;

static const char *const NAMES[] = {"rotation", "velocity", "position", "the gyroscope's bias", "the accelerometer's bias"};

#define STATE 8 /* arrays of it, in the order of the struct */

/* 0 with an exception set */
static int take_state(Views *views, PyObject *const *args, Filter *f) {
    double **const parts[] = {&f->rotation, &f->velocity, &f->position, &f->gyro_bias, &f->accelerometer_bias};
    Py_ssize_t size;
    for (int i = 0; i < 5; i++) {
        if (!(*parts[i] = flat(views, args[i], NAMES[i], &size, 1))) return 0;
        if (size != (i ? 3 : 9)) {
            PyErr_Format(PyExc_ValueError, "%s has %zd numbers", NAMES[i], size);
            return 0;
        }
    }
    if (!(f->footholds = flat(views, args[5], "footholds", &size, 1))) return 0;
    f->feet = size / 3;
    f->size = FIRST + size;
    if (size % 3 || f->feet > MOST_FEET) {
        PyErr_Format(PyExc_ValueError, "footholds have %zd numbers: three for each of %d feet at most", size, MOST_FEET);
        return 0;
    }
    if (!(f->covariance = flat(views, args[6], "the covariance", &size, 1))) return 0;
    if (size != f->size * f->size) {
        PyErr_Format(PyExc_ValueError, "the covariance has %zd numbers, expected %zd", size, f->size * f->size);
        return 0;
    }
    return (f->standing = bytes_of(views, args[7], "standing", f->feet)) != NULL;
}

/* v x, by rows */
static void skew(const double v[3], double out[9]) {
    const double S[9] = {0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0};
    memcpy(out, S, sizeof S);
}

/* exp phi and its integrals, the sums of phi x^n / (n + m)! for m = 0, 1, 2 */
static void turning(const double phi[3], double out[3][9]) {
    double S[9], SS[9], square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2], third = 1.0, fourth = 1.0;
    skew(phi, S);
    multiply(S, S, SS);
    if (square < 0.25) {
        for (int n = 12; n > 2; n -= 2) {
            third = 1.0 - third * square / (n * (n + 1));
            fourth = 1.0 - fourth * square / ((n + 1) * (n + 2));
        }
        third /= 6.0;
        fourth /= 24.0;
    } else {
        double angle = sqrt(square);
        third = (angle - sin(angle)) / (angle * square);
        fourth = (cos(angle) - 1.0 + 0.5 * square) / (square * square);
    }
    const double first = 1.0 - third * square, second = 0.5 - fourth * square;
    const double by[3][3] = {{1.0, first, second}, {1.0, second, third}, {0.5, third, fourth}};
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 9; i++) out[m][i] = by[m][0] * (i % 4 == 0) + by[m][1] * S[i] + by[m][2] * SS[i];
}

/* a block of the transition, which is the identity but for B (size x FIRST): factor * M */
static void block(double *B, int row, int column, double factor, const double M[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[(row + i) * FIRST + column + j] += factor * M[3 * i + j];
}

/* C <- (1 + B) C, by the entries of B that are not zero. Rows of B use none of the same block: from the last to the first,
   each finds what it uses as it was. */
static void apply(double *restrict C, const double *restrict B, int n) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = 0; j < FIRST; j++) {
            const double b = B[i * FIRST + j], *from = C + j * n;
            double *to = C + i * n;
            if (b != 0.0)
                for (int k = 0; k < n; k++) to[k] += b * from[k];
        }
}

static void transpose(double *C, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double c = C[i * n + j];
            C[i * n + j] = C[j * n + i];
            C[j * n + i] = c;
        }
}

/* C <- (1 + B) C (1 + B)' for a symmetric C: ((1 + B) ((1 + B) C)')' */
static void propagate(double *C, const double *B, int n) {
    apply(C, B, n);
    transpose(C, n);
    apply(C, B, n);
}

/* C <- C + g g' by a column g of B, times a factor */
static void drive(double *restrict C, const double *restrict B, int n, int column, double factor) {
    double g[MOST];
    for (int i = 0; i < n; i++) g[i] = B[i * FIRST + column];
    for (int i = 0; i < n; i++)
        if (g[i] != 0.0)
            for (int j = 0; j < n; j++) C[i * n + j] += factor * g[i] * g[j];
}

static void predict(const Filter *f, const double *rate, const double *force, double dt, const double *shift,
                    const double *gravity, const double *noise) {
    const int n = (int)f->size, feet = (int)f->feet;
    double phi[3], a[3], parts[3][9], turned[9], twice[9], one[3], two[3], v[3], p[3], B[MOST * FIRST], M[9], S[9], *C;
    for (int i = 0; i < 3; i++) {
        phi[i] = (rate[i] - f->gyro_bias[i]) * dt;
        a[i] = force[i] - f->accelerometer_bias[i];
    }
    turning(phi, parts);
    multiply(f->rotation, parts[1], turned);
    multiply(f->rotation, parts[2], twice);
    turn(turned, a, one);
    turn(twice, a, two);
    for (int i = 0; i < 3; i++) {
        v[i] = f->velocity[i] + (one[i] + gravity[i]) * dt;
        p[i] = f->position[i] + f->velocity[i] * dt + (two[i] + 0.5 * gravity[i]) * dt * dt;
    }
    for (int i = 0; shift && i < 3 * feet; i++) f->footholds[i] += shift[i];
    memset(B, 0, sizeof(double) * (size_t)(n * FIRST));
    skew(gravity, S);
    block(B, V, R, dt, S);
    block(B, P, R, 0.5 * dt * dt, S);
    for (int i = 0; i < 3; i++) B[(P + i) * FIRST + V + i] = dt;
    block(B, R, BG, -dt, turned);
    block(B, V, BA, -dt, turned);
    block(B, P, BA, -dt * dt, twice);
    skew(a, S);
    multiply(turned, S, M);
    block(B, V, BG, 0.5 * dt * dt, M);
    block(B, P, BG, dt * dt * dt / 6.0, M);
    for (int k = -2; k < feet; k++) {
        if (k >= 0 && !f->standing[k]) continue;
        skew(k == -2 ? v : k == -1 ? p : f->footholds + 3 * k, S);
        multiply(S, turned, M);
        block(B, k == -2 ? V : k == -1 ? P : FIRST + 3 * k, BG, -dt, M);
    }
    C = f->covariance;
    propagate(C, B, n);
    for (int axis = 0; axis < 3; axis++) {
        drive(C, B, n, BG + axis, noise[0] * noise[0] / dt);
        drive(C, B, n, BA + axis, noise[1] * noise[1] / dt);
    }
    for (int i = 0; i < n; i++) {
        const int own = i < BG ? -1 : i < BA ? 2 : i < FIRST ? 3 : f->standing[(i - FIRST) / 3] ? 4 : -1;
        if (own > 0) C[i * n + i] += noise[own] * noise[own] * dt;
    }
    multiply(f->rotation, parts[0], M);
    memcpy(f->rotation, M, sizeof M);
    memcpy(f->velocity, v, sizeof v);
    memcpy(f->position, p, sizeof p);
}

/* S = L L' in its lower half; 0 where it is not positive definite */
static int cholesky(double *S, int n, int step) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = S[i * step + j];
            for (int k = 0; k < j; k++) sum -= S[i * step + k] * S[j * step + k];
            if (i == j && !(sum > 0.0)) return 0;
            S[i * step + j] = i == j ? sqrt(sum) : sum / S[j * step + j];
        }
    return 1;
}

/* X <- L^-1 X, of n rows */
static void forward(const double *L, int n, int step, double *X, int columns) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            for (int j = 0; j < columns; j++) X[i * columns + j] -= L[i * step + k] * X[k * columns + j];
        for (int j = 0; j < columns; j++) X[i * columns + j] /= L[i * step + i];
    }
}

static double squares(const double *x, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

/* X <- exp(delta) X, and the biases by theirs */
static void move(const Filter *f, const double *delta) {
    double parts[3][9], M[9];
    turning(delta + R, parts);
    multiply(parts[0], f->rotation, M);
    memcpy(f->rotation, M, sizeof M);
    for (int k = -2; k < (int)f->feet; k++) {
        double *x = k == -2 ? f->velocity : k == -1 ? f->position : f->footholds + 3 * k, turned[3], way[3];
        turn(parts[0], x, turned);
        turn(parts[1], delta + (k == -2 ? V : k == -1 ? P : FIRST + 3 * k), way);
        for (int i = 0; i < 3; i++) x[i] = turned[i] + way[i];
    }
    for (int i = 0; i < 3; i++) {
        f->gyro_bias[i] += delta[BG + i];
        f->accelerometer_bias[i] += delta[BA + i];
    }
}

enum { DONE = -1, SINGULAR = -2 };

/* DONE; the number of the foot that is too far off, with nothing changed; or SINGULAR, with nothing changed */
static int correct(const Filter *f, const double *places, const double *noise, double gate, double *room) {
    const int n = (int)f->size, feet = (int)f->feet;
    int own[MOST_FEET], count = 0, worst = DONE;
    for (int k = 0; k < feet; k++)
        if (f->standing[k]) own[count++] = k;
    const int rows = 3 * count;
    double *S = room, *HC = S + rows * rows, z[MOST], delta[MOST], most = gate, *C = f->covariance;
    const double *turned = f->rotation;
    for (int k = 0; k < count; k++) {
        double y[3];
        turn(turned, places + 3 * own[k], y);
        for (int i = 0; i < 3; i++) {
            z[3 * k + i] = y[i] + f->position[i] - f->footholds[3 * own[k] + i];
            for (int j = 0; j < n; j++)
                HC[(3 * k + i) * n + j] = C[(P + i) * n + j] - C[(FIRST + 3 * own[k] + i) * n + j];
        }
    }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < count; k++)
            for (int j = 0; j < 3; j++)
                S[i * rows + 3 * k + j] = HC[i * n + P + j] - HC[i * n + FIRST + 3 * own[k] + j];
    for (int k = 0; k < count; k++) {
        double half[9], other[9], all[9];
        multiply(turned, noise + 9 * own[k], half);
        for (int i = 0; i < 9; i++) other[i] = turned[3 * (i % 3) + i / 3];
        multiply(half, other, all);
        for (int i = 0; i < 9; i++) S[(3 * k + i / 3) * rows + 3 * k + i % 3] += all[i];
    }
    double blocks[MOST_FEET][9], each[MOST], together[MOST];
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 9; i++) blocks[k][i] = S[(3 * k + i / 3) * rows + 3 * k + i % 3];
    memcpy(each, z, sizeof(double) * (size_t)rows);
    memcpy(together, z, sizeof(double) * (size_t)rows);
    if (!cholesky(S, rows, rows)) return SINGULAR;
    forward(S, rows, rows, together, 1);
    if (!(squares(together, rows) <= gate)) /* else none by itself is that far off */
        for (int k = 0; k < count; k++) {
            if (!cholesky(blocks[k], 3, 3)) return SINGULAR;
            forward(blocks[k], 3, 3, each + 3 * k, 1);
            if (squares(each + 3 * k, 3) > most) {
                most = squares(each + 3 * k, 3);
                worst = own[k];
            }
        }
    if (worst != DONE) return worst;
    forward(S, rows, rows, HC, n);
    for (int i = 0; i < n; i++) {
        delta[i] = 0.0;
        for (int k = 0; k < rows; k++) delta[i] -= HC[k * n + i] * together[k];
    }
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double sum = 0.5 * (C[i * n + j] + C[j * n + i]);
            for (int k = 0; k < rows; k++) sum -= HC[k * n + i] * HC[k * n + j];
            C[i * n + j] = C[j * n + i] = sum;
        }
    move(f, delta);
    return DONE;
}

#define PREDICT (STATE + 6)

/* filter_predict(state..., rate, force, dt, shift, gravity, noise): noise of gyroscope, accelerometer, the walks of their
   biases, contacts; shift of the footholds, or None */
static PyObject *filter_predict(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[PREDICT];
    Views views = {.view = room, .room = PREDICT};
    if (count != PREDICT) return PyErr_Format(PyExc_TypeError, "filter_predict takes %d arguments, not %zd", PREDICT, count);
    Filter f = {0};
    PyObject *const *rest = args + STATE;
    const double dt = PyFloat_AsDouble(rest[2]), *rate = NULL, *force = NULL, *shift = NULL, *gravity = NULL, *noise = NULL;
    int good = !PyErr_Occurred() && take_state(&views, args, &f) && (rate = doubles(&views, rest[0], "rate", 3, 0)) &&
               (force = doubles(&views, rest[1], "force", 3, 0)) && (gravity = doubles(&views, rest[4], "gravity", 3, 0)) &&
               (noise = doubles(&views, rest[5], "noise", 5, 0));
    Py_ssize_t size = 3 * f.feet;
    if (good && rest[3] != Py_None) good = (shift = flat(&views, rest[3], "shift", &size, 0)) != NULL;
    if (good && size != 3 * f.feet) {
        PyErr_Format(PyExc_ValueError, "shift has %zd numbers, expected %zd", size, 3 * f.feet);
        good = 0;
    }
    if (good) predict(&f, rate, force, dt, shift, gravity, noise);
    views_release(&views);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

#define CORRECT (STATE + 3)

/* filter_correct(state..., places, noise, gate): -1, and all is corrected; the number of a foot that is too far off; or -2
   where the covariance is not positive. Nothing is changed then. */
static PyObject *filter_correct(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View taken[CORRECT];
    Views views = {.view = taken, .room = CORRECT};
    if (count != CORRECT) return PyErr_Format(PyExc_TypeError, "filter_correct takes %d arguments, not %zd", CORRECT, count);
    Filter f = {0};
    PyObject *const *rest = args + STATE;
    const double gate = PyFloat_AsDouble(rest[2]), *places = NULL, *noise = NULL;
    Py_ssize_t size = 0, entries = 0;
    int good = !PyErr_Occurred() && take_state(&views, args, &f) && (places = flat(&views, rest[0], "places", &size, 0)) &&
               (noise = flat(&views, rest[1], "noise", &entries, 0));
    if (good && (size != 3 * f.feet || entries != 9 * f.feet)) {
        PyErr_Format(PyExc_ValueError, "%zd feet need %zd numbers for places and %zd for their noise, not %zd and %zd", f.feet,
                     3 * f.feet, 9 * f.feet, size, entries);
        good = 0;
    }
    int found = DONE;
    double *room = good ? PyMem_Malloc(sizeof(double) * (size_t)(1 + size * (size + f.size))) : NULL;
    if (good && !room) PyErr_NoMemory();
    if (room) found = correct(&f, places, noise, gate, room);
    PyMem_Free(room);
    views_release(&views);
    return room ? PyLong_FromLong(found) : NULL;
}

/* the height of a foothold: z less height is zero, but for noise of a variance */
static void level(const Filter *f, int foot, double height, double variance) {
    const int n = (int)f->size, own = FIRST + 3 * foot;
    const double *d = f->footholds + 3 * foot, off = d[2] - height;
    double spread[MOST], delta[MOST], *C = f->covariance, sum = variance;
    for (int i = 0; i < n; i++) /* h is (y, -x) of the rotation, and one of the foothold's height */
        spread[i] = d[1] * C[i * n + R] - d[0] * C[i * n + R + 1] + C[i * n + own + 2];
    sum += d[1] * spread[R] - d[0] * spread[R + 1] + spread[own + 2];
    for (int i = 0; i < n; i++) {
        delta[i] = -spread[i] / sum * off;
        for (int j = i; j < n; j++)
            C[i * n + j] = C[j * n + i] = 0.5 * (C[i * n + j] + C[j * n + i]) - spread[i] * spread[j] / sum;
    }
    move(f, delta);
}

#define LEVEL (STATE + 3)

/* filter_level(state..., foot, height, variance) */
static PyObject *filter_level(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[LEVEL];
    Views views = {.view = room, .room = LEVEL};
    if (count != LEVEL) return PyErr_Format(PyExc_TypeError, "filter_level takes %d arguments, not %zd", LEVEL, count);
    Filter f = {0};
    const Py_ssize_t foot = PyLong_AsSsize_t(args[STATE]);
    const double height = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(args[STATE + 1]);
    const double variance = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(args[STATE + 2]);
    int good = !PyErr_Occurred() && take_state(&views, args, &f);
    if (good && (foot < 0 || foot >= f.feet)) {
        PyErr_Format(PyExc_ValueError, "there is no foot %zd of %zd", foot, f.feet);
        good = 0;
    }
    if (good) level(&f, (int)foot, height, variance);
    views_release(&views);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"filter_predict", (PyCFunction)(void (*)(void))filter_predict, METH_FASTCALL, "A step of an invariant filter."},
    {"filter_correct", (PyCFunction)(void (*)(void))filter_correct, METH_FASTCALL, "A correction of it by its feet."},
    {"filter_level", (PyCFunction)(void (*)(void))filter_level, METH_FASTCALL, "A correction of it by the height of a foot."},
    {NULL, NULL, 0, NULL}};

int filter_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
