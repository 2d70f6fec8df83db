#include "linear.h"

static void swap_columns(double *C, int *columns, int m, int a, int b) {
    int kept = columns[a];
    columns[a] = columns[b];
    columns[b] = kept;
    for (int i = 0; i < m; i++) {
        double value = C[(size_t)a * m + i];
        C[(size_t)a * m + i] = C[(size_t)b * m + i];
        C[(size_t)b * m + i] = value;
    }
}

static int factor_columns(double *C, double *tau, int *columns, int m, int r, double least, int pivot) {
    for (int j = 0; j < r; j++) columns[j] = j;
    for (int j = 0; j < r; j++) {
        if (pivot) {
            int best = j;
            double most = -1.0;
            for (int k = j; k < r; k++) {
                const double *column = C + (size_t)k * m + j;
                double rest = dot(column, column, m - j);
                if (rest > most) most = rest, best = k;
            }
            if (best != j) swap_columns(C, columns, m, j, best);
        }
        double *v = C + (size_t)j * m + j;
        double beta = make_reflector(v, m - j, tau + j);
        for (int k = j + 1; k < r; k++) {
            double *behind = C + (size_t)k * m + j;
            add(-tau[j] * dot(v, behind, m - j), v, behind, m - j);
        }
        v[0] = beta;
        if (!pivot && !(fabs(beta) >= least)) return 0;
    }
    return 1;
}

static void apply_q(const double *C, const double *tau, int m, int r, double *b, int transposed) {
    for (int k = 0; k < r; k++) {
        int j = transposed ? k : r - 1 - k;
        const double *v = C + (size_t)j * m + j;
        double factor = -tau[j] * (b[j] + dot(v + 1, b + j + 1, m - j - 1));
        b[j] += factor;
        add(factor, v + 1, b + j + 1, m - j - 1);
    }
}
