/* Small dense linear algebra: what the hierarchy needs of it, and no more.

   Matrices are row by row with a leading dimension that is a multiple of eight; a reflector H = I - tau v v' has v[0] = 1. */
#ifndef WBC_LINEAR_H
#define WBC_LINEAR_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(_MSC_VER)
#define restrict __restrict
#endif

/* Four numbers at once, where the compiler knows how; one at a time elsewhere. */
#if defined(__GNUC__) && defined(WIDE)
typedef double Lanes __attribute__((vector_size(32)));
#define LANES 4
static inline double sum_of(Lanes a) { return (a[0] + a[2]) + (a[1] + a[3]); }
#elif defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(16)));
#define LANES 2
static inline double sum_of(Lanes a) { return a[0] + a[1]; }
#else
typedef double Lanes;
#define LANES 1
static inline double sum_of(Lanes a) { return a; }
#endif
#define LOAD(lanes, from) memcpy(&(lanes), (from), sizeof(Lanes)) /* from any address: compilers make it one load */
#define STORE(lanes, to) memcpy((to), &(lanes), sizeof(Lanes))

/* a' b with two running sums of lanes: one alone would wait for each addition to end */
static inline double dot(const double *a, const double *b, int n) {
    Lanes first = {0.0}, second = {0.0}, x, y;
    double rest = 0.0;
    int i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        LOAD(x, a + i);
        LOAD(y, b + i);
        first += x * y;
        LOAD(x, a + i + LANES);
        LOAD(y, b + i + LANES);
        second += x * y;
    }
    for (; i < n; i++) rest += a[i] * b[i];
    return rest + sum_of(first + second);
}

/* b += factor a */
static inline void add(double factor, const double *restrict a, double *restrict b, int n) {
    for (int i = 0; i < n; i++) b[i] += factor * a[i];
}

/* The reflector v to some rows, in the entries `from` .. `to`: v is zero where it does not act. Rows in whole lanes have no
   ends to look after, and four at a time need not wait for each other's sums. */
static inline void reflect_rows(const double *restrict v, double tau, double *const *rows, int count, int from, int to) {
    int r = 0;
    for (; r + 4 <= count; r += 4) {
        double *restrict a = rows[r], *restrict b = rows[r + 1], *restrict c = rows[r + 2], *restrict d = rows[r + 3];
        Lanes la = {0.0}, lb = {0.0}, lc = {0.0}, ld = {0.0}, x, y;
        for (int i = from; i < to; i += LANES) {
            LOAD(x, v + i);
            LOAD(y, a + i);
            la += x * y;
            LOAD(y, b + i);
            lb += x * y;
            LOAD(y, c + i);
            lc += x * y;
            LOAD(y, d + i);
            ld += x * y;
        }
        double fa = -tau * sum_of(la), fb = -tau * sum_of(lb), fc = -tau * sum_of(lc), fd = -tau * sum_of(ld);
        for (int i = from; i < to; i += LANES) {
            LOAD(x, v + i);
            LOAD(y, a + i);
            y += fa * x;
            STORE(y, a + i);
            LOAD(y, b + i);
            y += fb * x;
            STORE(y, b + i);
            LOAD(y, c + i);
            y += fc * x;
            STORE(y, c + i);
            LOAD(y, d + i);
            y += fd * x;
            STORE(y, d + i);
        }
    }
    for (; r < count; r++) {
        double *restrict a = rows[r];
        Lanes sum = {0.0}, x, y;
        for (int i = from; i < to; i += LANES) {
            LOAD(x, v + i);
            LOAD(y, a + i);
            sum += x * y;
        }
        double factor = -tau * sum_of(sum);
        for (int i = from; i < to; i += LANES) {
            LOAD(x, v + i);
            LOAD(y, a + i);
            y += factor * x;
            STORE(y, a + i);
        }
    }
}

/* makes of x, in place, the v of the reflector that takes x to (beta, 0, ..., 0); gives beta */
static inline double make_reflector(double *x, int n, double *tau) {
    double tail = n > 1 ? dot(x + 1, x + 1, n - 1) : 0.0, head = x[0];
    x[0] = 1.0;
    if (tail == 0.0) {
        *tau = 0.0;
        return head;
    }
    double norm = sqrt(head * head + tail), beta = head > 0.0 ? -norm : norm, scale = 1.0 / (head - beta);
    *tau = (beta - head) / beta;
    for (int i = 1; i < n; i++) x[i] *= scale;
    return beta;
}

/* QR factorisation of C, m x r, column by column: R above, the reflectors (their leading ones implied) below.

   `columns` says which column stands where. Without pivoting it stops where a column adds less than `least` to those
   before it, and gives 0; else it gives 1. */
static int factor_columns(double *C, double *tau, int *columns, int m, int r, double least, int pivot);

/* b = Q' b where `transposed`, else b = Q b */
static void apply_q(const double *C, const double *tau, int m, int r, double *b, int transposed);

#endif
