/* The inner step: the equality hierarchy of the working set, level by level. */
#include "inside.h"


/* fixes column level->column + q by the row at position q of the order, and takes it out of the rows behind */
static void fix_column(Hierarchy *h, Level *level, int q) {
    int c = level->column + q, n = h->n - c;
    double *row = row_of(h, h->T, level->order[q]), *v = row_of(h, h->V, c) + c;
    memcpy(v, row + c, (size_t)n * sizeof(double));
    row[c] = make_reflector(v, n, h->tau + c);
    memset(row + c + 1, 0, (size_t)(n - 1) * sizeof(double));
    int behind = level->count - q - 1;
    for (int i = 0; i < behind; i++) h->line[i] = row_of(h, h->T, level->order[q + 1 + i]);
    reflect(h, c, h->line, behind);
}

/* what is left of a row from a column on, relative to all of it, squared */
static double remainder_of(const Hierarchy *h, int row, int column) {
    const double *t = h->T + (size_t)row * h->ld + column;
    double norm = h->norm[row];
    return norm > 0.0 ? dot(t, t, h->n - column) / (norm * norm) : 0.0;
}

/* Eliminates the level's rows from position q on: in the order given while the rank is clear, then by pivoting.
   Gives the rank; `clear`: whether it was clear to the end. */
static int eliminate(Hierarchy *h, Level *level, int q, int *clear) {
    int *order = level->order, end = level->count;
    while (q < end && level->column + q < h->n && remainder_of(h, order[q], level->column + q) > CLEAR * CLEAR)
        fix_column(h, level, q++);
    int before = q;
    double least = h->rank_tolerance * h->rank_tolerance;
    for (; q < end && level->column + q < h->n; q++) {
        int best = -1;
        double most = least;
        for (int i = q; i < end; i++) {
            double rest = remainder_of(h, order[i], level->column + q);
            if (rest > most) most = rest, best = i;
        }
        if (best < 0) break;
        int row = order[q];
        order[q] = order[best];
        order[best] = row;
        fix_column(h, level, q);
    }
    *clear = q == before;
    return q;
}

/* the row in the coordinates that the prefix leads to; made once a solve */
static double *prefixed_row(Hierarchy *h, int row) {
    double *p = row_of(h, h->P, row);
    if (!h->prefixed[row]) {
        h->prefixed[row] = 1;
        memcpy(p, row_of(h, h->A, row), (size_t)h->n * sizeof(double));
        for (int j = 0; j < h->prefix_columns; j++) reflect(h, j, &p, 1);
    }
    return p;
}

/* the reflectors first .. last - 1 to `line`, four rows at a time so that they stay in the cache */
static void reflect_lines(Hierarchy *h, int first, int last, int count) {
    for (int r = 0; r < count; r += 16) {
        int together = count - r < 16 ? count - r : 16;
        for (int j = first; j < last; j++) reflect(h, j, h->line + r, together);
    }
}

/* the level's rows in the working set, in the coordinates w, into T; those of the prefix stand there already */
static void form_level(Hierarchy *h, int k) {
    Level *level = h->level + k;
    int count = 0, done = k == h->prefix_level ? h->prefix_rank : 0;
    level->formed = 1;
    if (done == level->count) return;
    for (int i = done; i < level->count; i++) {
        int row = level->order[i];
        if (h->prefixed[row]) continue;
        double *p = h->line[count++] = row_of(h, h->P, row);
        memcpy(p, row_of(h, h->A, row), (size_t)h->n * sizeof(double));
        h->prefixed[row] = 1;
    }
    reflect_lines(h, 0, h->prefix_columns, count);
    count = 0;
    for (int i = done; i < level->count; i++) {
        double *t = h->line[count++] = row_of(h, h->T, level->order[i]);
        memcpy(t, row_of(h, h->P, level->order[i]), (size_t)h->n * sizeof(double));
    }
    int last = level->column < h->reflectors ? level->column : h->reflectors;
    reflect_lines(h, h->prefix_columns, last, count);
}

/* copies the level's rows in `width` of its columns, column by column */
static void copy_columns(Hierarchy *h, Level *level, int width) {
    int m = level->count;
    for (int i = 0; i < m; i++) {
        const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
        for (int j = 0; j < width; j++) level->C[(size_t)j * m + i] = t[j];
    }
}

/* Householder QR is accurate row by row where large rows come first (Cox and Higham 1998) */
static void sort_by_size(Hierarchy *h, Level *level) {
    for (int i = 1; i < level->count; i++) {
        int row = level->order[i], j = i;
        for (; j && h->norm[level->order[j - 1]] < h->norm[row]; j--) level->order[j] = level->order[j - 1];
        level->order[j] = row;
    }
}

/* what the level fixes of w, from what its rows are held at */
static void solve_columns(Hierarchy *h, Level *level) {
    int m = level->count, c = level->column;
    double *w = h->w + c, *rest = level->trail;
    for (int i = 0; i < m; i++) {
        int row = level->order[i];
        rest[i] = h->target[row] - dot(row_of(h, h->T, row), h->w, c);
    }
    if (level->exact) {
        for (int i = 0; i < m; i++) {
            const double *t = h->T + (size_t)level->order[i] * h->ld + c;
            w[i] = (rest[i] - dot(t, w, i)) / t[i];
        }
        return;
    }
    apply_q(level->C, level->tau, m, level->rank, rest, 1);
    memcpy(h->work, rest, (size_t)level->rank * sizeof(double));
    for (int j = level->rank - 1; j >= 0; j--) {
        const double *column = level->C + (size_t)j * m;
        double found = h->work[j] / column[j];
        w[level->pivot[j]] = found;
        add(-found, column, h->work, j);
    }
}

/* whether no row behind the rank is much larger than one before it: QR is accurate row by row then */
static int heavier_first(const Hierarchy *h, const Level *level) {
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < level->count; i++) {
        double norm = h->norm[level->order[i]];
        if (i < level->rank) least = fmin(least, norm);
        else most = fmax(most, norm);
    }
    return most <= EVEN * least;
}

/* QR where the first rows are a triangle already, as elimination leaves them: from the last column to the first, each
   reflector has one of these rows and those behind. */
static void factor_below_triangle(Hierarchy *h, Level *level) {
    int m = level->count, r = level->rank;
    for (int i = 0; i < r / 2; i++) {
        int row = level->order[i];
        level->order[i] = level->order[r - 1 - i];
        level->order[r - 1 - i] = row;
    }
    for (int i = 0; i < m; i++) {
        const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
        for (int j = 0; j < r; j++) level->C[(size_t)j * m + i] = t[r - 1 - j];
    }
    for (int j = 0; j < r; j++) {
        double *column = level->C + (size_t)j * m, *v = column + r, head = column[j];
        double tail = dot(v, v, m - r), norm = sqrt(head * head + tail), beta = head > 0.0 ? -norm : norm;
        level->pivot[j] = r - 1 - j;
        level->tau[j] = 0.0;
        if (tail == 0.0) continue;
        double scale = 1.0 / (head - beta), tau = level->tau[j] = (beta - head) / beta;
        for (int i = 0; i < m - r; i++) v[i] *= scale;
        column[j] = beta;
        for (int k = j + 1; k < r; k++) {
            double *behind = level->C + (size_t)k * m, factor = -tau * (behind[j] + dot(v, behind + r, m - r));
            behind[j] += factor;
            add(factor, v, behind + r, m - r);
        }
    }
}

/* factorises the level's rows in the columns from `column` on, of which `fixed` are fixed by its first rows already */
static void factor_level(Hierarchy *h, Level *level, int column, int fixed) {
    int m = level->count, free = h->n - column;
    level->column = column;
    level->rank = level->exact = level->formed = level->tall = 0;
    if (!m || !free) return;
    double top = 0.0, bottom = INFINITY;
    int first = h->n, last = 0; /* the columns that any row has: their number bounds the rank */
    for (int i = 0; i < m; i++) {
        int row = level->order[i];
        double norm = h->norm[row];
        if (norm > top) top = norm;
        if (norm < bottom) bottom = norm;
        if (h->from[row] < first) first = h->from[row];
        if (h->to[row] > last) last = h->to[row];
    }
    int even = bottom * EVEN >= top && top > 0.0;
    form_level(h, (int)(level - h->level));
    if (even && m >= free && last - first >= free && !fixed) { /* all that is free is fixed here: no reflector is needed behind it */
        copy_columns(h, level, free);
        if (factor_columns(level->C, level->tau, level->pivot, m, free, CLEAR * top, 0)) {
            level->rank = free;
            level->tall = 1;
            return;
        }
    }
    int clear = 0;
    level->rank = eliminate(h, level, fixed, &clear);
    if (fixed) clear = clear && h->prefix_clear;
    level->exact = level->rank == m;
    if (level->exact || !level->rank) return;
    if (clear && heavier_first(h, level)) {
        factor_below_triangle(h, level);
        return;
    }
    if (!even) sort_by_size(h, level);
    copy_columns(h, level, level->rank);
    factor_columns(level->C, level->tau, level->pivot, m, level->rank, 0.0, 1);
}

/* Factorises the equalities of the levels down to the first that has inequalities: once a solve. */
static void factor_prefix(Hierarchy *h) {
    int column = 0, k = 0;
    memset(h->prefixed, 0, (size_t)h->rows);
    h->prefix_columns = h->prefix_rank = 0;
    h->reflectors = h->n;
    h->prefix_level = h->levels; /* until it is found: all rows are formed from A */
    for (; k < h->levels; k++) {
        Level *level = h->level + k;
        int size = h->start[k + 1] - h->start[k], count = h->equality_count[k];
        memcpy(level->order, h->equalities + h->start[k], (size_t)count * sizeof(int));
        level->count = count;
        if (count < size) break;
        factor_level(h, level, column, 0);
        if (level->tall && h->reflectors > column) h->reflectors = column;
        if (level->rank) solve_columns(h, level);
        column += level->rank;
        h->prefix_columns = level->tall ? level->column : column;
    }
    h->prefix_level = k;
    h->prefix_end = column;
    memset(h->prefixed, 0, (size_t)h->rows); /* their products were with a shorter prefix */
    if (k == h->levels || column == h->n) return;
    Level *level = h->level + k;
    memcpy(h->prefix_order, level->order, (size_t)level->count * sizeof(int));
    level->column = column;
    for (int i = 0; i < level->count; i++) {
        h->line[i] = row_of(h, h->T, level->order[i]);
        memcpy(h->line[i], row_of(h, h->A, level->order[i]), (size_t)h->n * sizeof(double));
    }
    reflect_lines(h, 0, column, level->count);
    int clear = 0;
    h->prefix_rank = eliminate(h, level, 0, &clear);
    h->prefix_clear = clear;
    h->prefix_columns = h->prefix_end = column + h->prefix_rank;
    memcpy(h->prefix_order, level->order, (size_t)level->count * sizeof(int));
}

static double value_of(const Hierarchy *h, int row, const double *y) {
    int from = h->from[row];
    return dot(row_of(h, h->A, row) + from, y + from, h->to[row] - from);
}

static void point_of(Hierarchy *h) {
    memcpy(h->y_new, h->w, (size_t)h->n * sizeof(double));
    for (int j = h->reflectors - 1; j >= 0; j--) reflect(h, j, &h->y_new, 1);
}

static void values_of_rows(Hierarchy *h) {
    for (int i = 0; i < h->active_rows; i++) h->value_new[i] = value_of(h, i, h->y_new);
}

/* where the columns of a level begin: behind those of the level above */
static int column_of(const Hierarchy *h, int k) {
    return k ? h->level[k - 1].column + h->level[k - 1].rank : 0;
}

/* factorises a level for the working set, and solves it; gives where the columns of the next one begin */
static int solve_level(Hierarchy *h, int k, int column) {
    Level *level = h->level + k;
    int prefix = k == h->prefix_level, count = h->equality_count[k];
    memcpy(level->order, prefix && column < h->n ? h->prefix_order : h->equalities + h->start[k], (size_t)count * sizeof(int));
    for (int i = 0; i < h->held_count[k]; i++) level->order[count++] = h->held[h->start[k] + i];
    level->count = count;
    factor_level(h, level, column, prefix ? h->prefix_rank : 0);
    if (level->tall) h->reflectors = column;
    if (level->rank) solve_columns(h, level);
    return column + level->rank;
}

/* where the working set's solution is, from all columns of w that levels have fixed */
static void end_step(Hierarchy *h, int column) {
    if (h->reflectors > column) h->reflectors = column;
    memset(h->w + column, 0, (size_t)(h->n - column) * sizeof(double));
    point_of(h);
    values_of_rows(h);
    h->length = sqrt(dot(h->y_new, h->y_new, h->n));
    h->steps++;
}

static void inner_step(Hierarchy *h, int from) {
    if (from < h->prefix_level) from = h->prefix_level;
    h->reflectors = h->n;
    for (int k = 0; k < from && k < h->levels; k++)
        if (h->level[k].tall) h->reflectors = h->level[k].column;
    int column = column_of(h, from);
    for (int k = from; k < h->active_levels; k++) column = solve_level(h, k, column);
    end_step(h, column);
}
