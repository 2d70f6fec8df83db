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

/* a' b with eight running sums: one sum alone would wait for each addition to end */
static inline double dot(const double *restrict a, const double *restrict b, int n) {
    double sums[8] = {0.0}, rest = 0.0;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int lane = 0; lane < 8; lane++) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < n; i++) rest += a[i] * b[i];
    return rest + ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/* b += factor a */
static inline void add(double factor, const double *restrict a, double *restrict b, int n) {
    for (int i = 0; i < n; i++) b[i] += factor * a[i];
}

/* the reflector v, of length n, to the entries `at` .. `at + n` of some rows, four rows at a time */
static inline void reflect_rows(const double *restrict v, double tau, double *const *rows, int count, int at, int n) {
    int r = 0;
    for (; r + 4 <= count; r += 4) {
        double *restrict a = rows[r] + at, *restrict b = rows[r + 1] + at;
        double *restrict c = rows[r + 2] + at, *restrict d = rows[r + 3] + at;
        double sa[4] = {0.0}, sb[4] = {0.0}, sc[4] = {0.0}, sd[4] = {0.0};
        int i = 0;
        for (; i + 4 <= n; i += 4)
            for (int lane = 0; lane < 4; lane++) {
                double x = v[i + lane];
                sa[lane] += x * a[i + lane];
                sb[lane] += x * b[i + lane];
                sc[lane] += x * c[i + lane];
                sd[lane] += x * d[i + lane];
            }
        for (; i < n; i++) {
            sa[0] += v[i] * a[i];
            sb[0] += v[i] * b[i];
            sc[0] += v[i] * c[i];
            sd[0] += v[i] * d[i];
        }
        double fa = -tau * ((sa[0] + sa[2]) + (sa[1] + sa[3])), fb = -tau * ((sb[0] + sb[2]) + (sb[1] + sb[3]));
        double fc = -tau * ((sc[0] + sc[2]) + (sc[1] + sc[3])), fd = -tau * ((sd[0] + sd[2]) + (sd[1] + sd[3]));
        for (i = 0; i < n; i++) {
            double x = v[i];
            a[i] += fa * x;
            b[i] += fb * x;
            c[i] += fc * x;
            d[i] += fd * x;
        }
    }
    for (; r < count; r++) add(-tau * dot(v, rows[r] + at, n), v, rows[r] + at, n);
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
int factor_columns(double *C, double *tau, int *columns, int m, int r, double least, int pivot);

/* b = Q' b where `transposed`, else b = Q b */
void apply_q(const double *C, const double *tau, int m, int r, double *b, int transposed);

#endif
