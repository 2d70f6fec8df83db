/* Who holds whom back, and who has no reason to: the multipliers of the working set.

   From the lowest level up: the residual r of level k pulls with g = -A_k' r; what level j above it takes of the pull is
   lambda = C (C'C)^-1 g_j in the columns of j, and g - A_j' lambda is left for the levels above. A level's own multiplier is
   its residual. The level past the last is the implicit one, min 1/2 |y|^2.                                            */
#include "inside.h"

/* lambda of the level's rows, in its order, for a pull in the coordinates w */
static void shares_of(Hierarchy *h, const Level *level, const double *pull, double *lambda) {
    const double *g = pull + level->column;
    int m = level->count, r = level->rank;
    if (level->exact) {
        memcpy(lambda, g, (size_t)r * sizeof(double));
        for (int i = r - 1; i >= 0; i--) {
            const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
            lambda[i] /= t[i];
            add(-lambda[i], t, lambda, i);
        }
        return;
    }
    for (int j = 0; j < r; j++) {
        const double *column = level->C + (size_t)j * m;
        lambda[j] = (g[level->pivot[j]] - dot(column, lambda, j)) / column[j];
    }
    memset(lambda + r, 0, (size_t)(m - r) * sizeof(double));
    apply_q(level->C, level->tau, m, r, lambda, 0);
}

/* The level's residual A y - b into `residual`, in its order; 0 where it is rounding and nothing more.

   It is what the factorisation left over, not the difference of large numbers: where rows differ much in size the large
   ones miss by much less than that difference is good for, and pull as much as the small ones. */
static int residual_of(Hierarchy *h, const Level *level, double *residual) {
    int m = level->count, r = level->rank, any = 0;
    memset(residual, 0, (size_t)r * sizeof(double));
    for (int i = r; i < m; i++) {
        int row = level->order[i];
        double left = r ? -level->trail[i] : h->value_new[row] - h->target[row];
        residual[i] = fabs(left) > NEGLIGIBLE * (fabs(h->target[row]) + h->size[row]) ? left : 0.0;
        any |= residual[i] != 0.0;
    }
    if (any && r && !level->exact) apply_q(level->C, level->tau, m, r, residual, 0);
    return any;
}

/* the level's own residual as a new pull, where there is any */
static void pull_of(Hierarchy *h, const Level *level, int k) {
    double own = 0.0, most = 0.0, *residual = h->work;
    if (!residual_of(h, level, residual)) return;
    double *g = h->pull + (size_t)h->pulls * h->ld, *line = h->multipliers + (size_t)h->pulls * h->rows;
    memset(g, 0, (size_t)h->n * sizeof(double));
    memset(line, 0, (size_t)h->rows * sizeof(double));
    for (int i = 0; i < level->count; i++) {
        int row = level->order[i];
        add(-residual[i], h->T + (size_t)row * h->ld, g, level->column);
        line[row] = residual[i];
        own += fabs(residual[i]) * h->norm[row];
        if (fabs(residual[i]) > most) most = fabs(residual[i]);
    }
    h->missed[h->pulls] = most;
    h->pulling[h->pulls] = k;
    h->pull_size[h->pulls++] = own;
}

static void find_multipliers(Hierarchy *h) {
    h->pulls = 0;
    if (!h->held_total) return;
    if (h->length > NEGLIGIBLE * (1.0 + h->length)) {
        for (int i = 0; i < h->n; i++) h->pull[i] = -h->w[i];
        memset(h->multipliers, 0, (size_t)h->rows * sizeof(double));
        h->pulling[0] = h->active_levels;
        h->pull_size[0] = h->length;
        h->pulls = 1;
    }
    for (int k = h->active_levels - 1; k >= 0; k--) {
        Level *level = h->level + k;
        if (!level->count) continue;
        if (!level->formed) form_level(h, k);
        if (level->rank)
            for (int p = 0; p < h->pulls; p++) {
                double *g = h->pull + (size_t)p * h->ld, *lambda = h->work;
                shares_of(h, level, g, lambda);
                for (int i = 0; i < level->count; i++) {
                    int row = level->order[i];
                    h->multipliers[(size_t)p * h->rows + row] = lambda[i];
                    if (k) add(-lambda[i], h->T + (size_t)row * h->ld, g, level->column);
                }
            }
        if (!level->exact) pull_of(h, level, k);
    }
}

/* A held row's multiplier for a level that pulls, positive where the row is held for a reason, as a share of the pull. The
   multiplier of a row of the level itself is its residual: where rows differ much in size, a small row can hardly pull and
   yet be most of what the level misses, so its share of that counts as well. */
static double share_of(const Hierarchy *h, int p, int row) {
    double multiplier = h->multipliers[(size_t)p * h->rows + row] * h->side[row];
    double share = multiplier * h->norm[row] / h->pull_size[p];
    if (h->level_of[row] != h->pulling[p]) return share;
    double missed = multiplier / h->missed[p];
    return fabs(missed) > fabs(share) ? missed : share;
}

/* Walks the levels that pull, highest first: a row that an earlier one holds for a reason is settled; of the others those
   that this one would push off leave. Ordinarily all rows of the level itself leave at once, or the one that is pushed
   most; a careful search takes the first row alone, so that no cycle can close (Bland's rule). `settled` is the share from
   which on a row is settled, `significant` that from which on one is pushed off. */
static int leaving_rows(Hierarchy *h, int careful, double settled, double significant) {
    find_multipliers(h);
    memcpy(h->settled, h->stuck, (size_t)h->rows);
    for (int p = h->pulls - 1; p >= 0; p--) {
        int k = h->pulling[p], own = 0, worst = -1, first = -1;
        double most = 0.0;
        for (int j = 0; j <= k && j < h->active_levels; j++)
            for (int i = 0; i < h->held_count[j]; i++) {
                int row = h->held[h->start[j] + i];
                double share = share_of(h, p, row);
                if (share >= -significant || h->settled[row]) continue;
                if (share < most) most = share, worst = row;
                if (first < 0 || row < first) first = row;
                if (j == k) h->index[own++] = row;
            }
        if (worst >= 0) {
            if (own && !careful) return own;
            h->index[0] = careful ? first : worst;
            return 1;
        }
        for (int j = 0; j <= k && j < h->active_levels; j++)
            for (int i = 0; i < h->held_count[j]; i++) {
                int row = h->held[h->start[j] + i];
                if (share_of(h, p, row) > settled) h->settled[row] = 1;
            }
    }
    return 0;
}

/* Where rows are nearly parallel, and differ much in size as well, rounding can grow beyond what an answer may be called
   exact with: what was solved for is then not what comes out, neither row by row nor by what the level misses. */
static int is_accurate(Hierarchy *h) {
    double *residual = h->work;
    for (int k = 0; k < h->active_levels; k++) {
        const Level *level = h->level + k;
        double missed = 0.0, off = 0.0;
        if (!level->count || !level->rank) continue;
        residual_of(h, level, residual);
        for (int i = 0; i < level->count; i++) {
            int row = level->order[i];
            double error = h->value_new[row] - h->target[row] - residual[i];
            if (!(fabs(error) <= ACCURACY * (fabs(h->target[row]) + h->size[row]))) return 0;
            missed += residual[i] * residual[i];
            off += error * error;
        }
        if (level->exact) continue;
        if (!(sqrt(off) <= EXACT * (1.0 + sqrt(missed)))) return 0;
    }
    return 1;
}
