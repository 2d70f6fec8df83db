/* The active-set search: from a working set to the optimum.

   The working set holds every equality, and some inequality rows, each at one of its bounds in the least-squares sense of
   its own level. The invariant: every row outside it is satisfied at the current y. So no feasible start is needed, and
   nothing is ever infeasible.                                                                                          */
#include "../guess_room.h"
#include "inside.h"

#define OFTEN 0.3      /* how often the last set must have been right lately to be tried first */
#define ROUND 0.2      /* what a round of a guess takes, in steps */
#define CHEAP 10.0     /* steps that are not worth another way */
#define LEARNT 0.3     /* how much the last solve counts in what is learnt of guesses */
#define FEW 10         /* where more than half of so many steps let a row enter, the guess was a poor one */
#define AT_ONCE 1e-12  /* a step that is no step */
#define LENIENT 1e-10  /* a row that would come back at once by rounding alone is violated beyond this share only */
#define ROUNDING 1e-13 /* a share that may be rounding */
#define WRONG 1e-8     /* of a row that came back at once: so large a share with the wrong sign is none of rounding */
#define FAR 1e3        /* rounding at a point that is further out than this is not measured by the point */
#define SMALL 64       /* unknowns of a search that may begin anew */
#define KEEPS 0.4      /* what is left to do where a search is stopped takes no more than this share of the time */

static int min_int(int a, int b) { return a < b ? a : b; }

/* ---- the working set ------------------------------------------------------------------------------------------- */

static void hold(Hierarchy *h, int row, int side) {
    int k = h->level_of[row];
    if (!h->side[row]) {
        h->held[h->start[k] + h->held_count[k]++] = row;
        h->held_total++;
    }
    h->side[row] = (signed char)side;
    double bound = side > 0 ? h->upper[row] + h->slack[row] : h->lower[row] - h->slack[row];
    h->target[row] = bound;
    h->low[row] = side > 0 ? h->lower[row] - h->slack[row] : -INFINITY;
    h->high[row] = side > 0 ? INFINITY : h->upper[row] + h->slack[row];
}

static void release(Hierarchy *h, int row) {
    int k = h->level_of[row], *held = h->held + h->start[k], i = 0;
    while (held[i] != row) i++;
    h->held_count[k]--;
    h->held_total--;
    for (; i < h->held_count[k]; i++) held[i] = held[i + 1];
    h->side[row] = 0;
    h->low[row] = h->lower[row] - h->slack[row];
    h->high[row] = h->upper[row] + h->slack[row];
}

static void release_all(Hierarchy *h) {
    for (int row = 0; row < h->rows; row++)
        if (h->side[row]) release(h, row);
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* how far each row is beyond its bounds at y_new; the worst of them, NaN where a number is none */
static double look(Hierarchy *h) {
    double worst = -INFINITY, reach = 1.0 + h->length;
    for (int i = 0; i < h->active_rows; i++) {
        double over = h->value_new[i] - h->high[i], under = h->low[i] - h->value_new[i];
        h->size[i] = h->norm[i] * reach;
        h->beyond[i] = (over > under ? over : under) - (h->lenient[i] ? LENIENT : FEASIBILITY) * h->size[i];
        if (!(h->beyond[i] <= worst)) worst = h->beyond[i];
    }
    return worst;
}

static void accept(Hierarchy *h) {
    memcpy(h->y, h->y_new, (size_t)h->n * sizeof(double));
    memcpy(h->value, h->value_new, (size_t)h->active_rows * sizeof(double));
}

/* From y towards y_new until the first row outside the set blocks; it enters. Gives its level.
   `last`: the row that has just left alone, or -1. Where it blocks at once it was held for a reason after all: it is stuck,
   as long as the set is this one. */
static int step(Hierarchy *h, int careful, int last) {
    double first = 1.0, most = -1.0, *share = h->work;
    int pick = -1;
    for (int i = 0; i < h->active_rows; i++) {
        share[i] = INFINITY;
        if (!(h->beyond[i] > 0.0)) continue;
        double bound = h->value_new[i] > h->high[i] ? h->high[i] : h->low[i];
        double change = h->value_new[i] - h->value[i], room = bound - h->value[i];
        share[i] = room * change > 0.0 ? room / change : 0.0;
        if (share[i] > 1.0) share[i] = 1.0;
        if (share[i] < first) first = share[i];
    }
    for (int i = 0; i < h->active_rows; i++)
        if (!(share[i] > first + 1e-14) && h->beyond[i] > most) { /* NaN, of numbers near the largest, too: one must enter */
            most = h->beyond[i], pick = i;
            if (careful) break;
        }
    if (last >= 0 && share[last] <= AT_ONCE) {
        if (h->beyond[last] <= LENIENT * h->size[last]) { /* by rounding: another row holds it where it was */
            h->lenient[last] = 1;
            return h->levels;
        }
        pick = last;
        first = share[last];
        h->stuck[last] = 1;
    }
    for (int i = 0; i < h->n; i++) h->y[i] += first * (h->y_new[i] - h->y[i]);
    for (int i = 0; i < h->active_rows; i++) h->value[i] += first * (h->value_new[i] - h->value[i]);
    hold(h, pick, h->value_new[pick] > h->high[pick] ? 1 : -1);
    return h->level_of[pick];
}

/* makes the start the current point: the rows that are violated there enter. Gives the first level to solve anew. */
static int begin(Hierarchy *h) {
    int from = h->levels;
    for (int i = 0; i < h->active_rows; i++) {
        h->value[i] = value_of(h, i, h->y);
        int up = h->value[i] > h->high[i];
        if (!up && !(h->value[i] < h->low[i])) continue;
        hold(h, i, up ? 1 : -1);
        from = min_int(from, h->level_of[i]);
    }
    return from < h->levels ? from : step(h, 0, -1);
}

/* Whether y_new may be called optimal: what is stuck must have a multiplier of the right sign, however small, and the
   equations must be solved as well as numbers allow. */
static int is_optimal(Hierarchy *h) {
    int any = 0;
    for (int i = 0; i < h->active_rows; i++) any |= h->stuck[i];
    memset(h->stuck, 0, (size_t)h->rows);
    return (!any || !leaving_rows(h, 1, ROUNDING, WRONG)) && is_accurate(h);
}

static unsigned long long name_of_set(const Hierarchy *h) {
    unsigned long long hash = 1469598103934665603ULL;
    for (int i = 0; i < h->active_rows; i++) hash = (hash ^ (unsigned char)(h->side[i] + 1)) * 1099511628211ULL;
    return hash;
}

/* whether the working set was there before in this search; remembers it */
static int met(Hierarchy *h, unsigned long long set) {
    for (int i = 0; i < h->seen_count && i < SEEN; i++)
        if (h->seen[i] == set) return 1;
    h->seen[h->seen_count++ % SEEN] = set; /* the oldest is forgotten */
    return 0;
}

/* Where the search has far to go: a guess with levels further apart, from the set that was reached. Where it goes astray
   the search goes on from there. */
static void guess_again(Hierarchy *h) {
    signed char *kept = h->guess->kept;
    memcpy(kept, h->side, (size_t)h->rows);
    memcpy(h->guess->y_kept, h->y, (size_t)h->n * sizeof(double));
    release_all(h);
    inner_step(h, 0);
    if (guess_active_set(h, h->apart + 1, kept)) {
        h->apart++;
        return;
    }
    for (int i = 0; i < h->rows; i++)
        if (kept[i]) hold(h, i, kept[i]);
    memcpy(h->y, h->guess->y_kept, (size_t)h->n * sizeof(double));
}

/* The search itself, from the current set and y. `fresh`: an inner solution of this set stands in y_new.
   A set that comes back means a cycle: from then on the search is careful. Where it comes back all the same, `*cycles`
   counts it, and after some rounds the search gives up. */
static enum Status search(Hierarchy *h, int limit, int fresh, int *cycles) {
    int from = 0, begun = 0, careful = 0, last = -1, held = h->held_total;
    unsigned long long before = 0;
    h->seen_count = h->left_count = 0;
    memset(h->stuck, 0, (size_t)h->rows);
    memset(h->lenient, 0, (size_t)h->rows);
    for (int count = 0; count < limit; count++) {
        if (count == FEW && h->held_total - held > FEW / 2 && h->apart < FURTHEST) {
            guess_again(h);
            from = begun = 0, last = -1, before = 0;
            h->left_count = 0;
            memset(h->stuck, 0, (size_t)h->rows);
        }
        if (!fresh) inner_step(h, from);
        fresh = 0;
        if (!(h->length < INFINITY)) return UNSOUND;
        double worst = look(h);
        if (worst != worst) return UNSOUND;
        if (worst > 0.0) {
            if (count + 1 == limit) break; /* y is where it was: a point that keeps what held there */
            from = begun ? step(h, careful, last) : begin(h);
            begun = 1;
            last = -1;
        } else {
            accept(h);
            begun = 1;
            unsigned long long set = name_of_set(h);
            if (set == before) /* what left last is back: it is held for a reason after all */
                for (int i = 0; i < h->left_count; i++) h->stuck[h->left[i]] = 1;
            else {
                memset(h->stuck, 0, (size_t)h->rows);
                if (met(h, set)) {
                    if (careful && ++*cycles > 3) return STOPPED;
                    careful = 1;
                    h->seen_count = 0;
                }
            }
            before = set;
            int leaving = leaving_rows(h, careful, SETTLED, SIGNIFICANT);
            if (!leaving) return is_optimal(h) ? OPTIMAL : STOPPED;
            last = leaving == 1 ? h->index[0] : -1;
            from = h->levels;
            for (int i = 0; i < leaving; i++) {
                from = min_int(from, h->level_of[h->index[i]]);
                h->left[i] = h->index[i];
                release(h, h->index[i]);
            }
            h->left_count = leaving;
        }
        if (now() > h->deadline) break;
    }
    return STOPPED;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

/* sets up the bounds and equalities; gives the first row whose numbers can't be used, -1: none */
static int prepare(Hierarchy *h) {
    memset(h->held_count, 0, (size_t)h->levels * sizeof(int));
    memset(h->equality_count, 0, (size_t)h->levels * sizeof(int));
    memset(h->slack, 0, (size_t)h->rows * sizeof(double));
    h->held_total = h->loose_count = h->steps = h->guesses = h->pulls = 0;
    h->active_levels = h->levels;
    h->active_rows = h->rows;
    for (int i = 0; i < h->rows; i++) {
        double low = h->lower[i], high = h->upper[i];
        if (!(h->norm[i] < INFINITY) || !(low <= high) || low == INFINITY || high == -INFINITY) return i;
        h->before[i] = h->side[i];
        h->side[i] = 0;
        if (low == high) {
            int k = h->level_of[i];
            h->equalities[h->start[k] + h->equality_count[k]++] = i;
            h->low[i] = -INFINITY, h->high[i] = INFINITY, h->target[i] = low;
            h->before[i] = 0;
        } else {
            h->loose[h->loose_count++] = i;
            h->low[i] = low, h->high[i] = high, h->target[i] = 0.0;
            if (h->before[i] && !(fabs(h->before[i] > 0 ? high : low) < INFINITY)) h->before[i] = 0;
        }
    }
    return -1;
}

static int hold_as_before(Hierarchy *h) {
    int count = 0;
    for (int i = 0; i < h->rows; i++)
        if (h->before[i]) hold(h, i, h->before[i]), count++;
    return count;
}

/* Breaks a cycle: finds the optimum with bounds that are wider by a little at random, where no two vertices meet, and
   takes its working set. */
static enum Status break_cycle(Hierarchy *h, int limit) {
    unsigned long long random = 88172645463325252ULL;
    int cycles = 0;
    for (int i = 0; i < h->rows; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        h->slack[i] = 1e-11 * (0.5 + (double)(random >> 11) / 9007199254740992.0) * h->norm[i] * (1.0 + h->length);
        if (h->lower[i] == h->upper[i]) h->slack[i] = 0.0;
        int side = h->side[i];
        if (side) hold(h, i, side);
        else if (h->lower[i] < h->upper[i]) h->low[i] = h->lower[i] - h->slack[i], h->high[i] = h->upper[i] + h->slack[i];
    }
    enum Status status = search(h, limit, 0, &cycles);
    memset(h->slack, 0, (size_t)h->rows * sizeof(double));
    if (status != OPTIMAL) return status;
    for (int i = 0; i < h->rows; i++) {
        int side = h->side[i];
        if (side) hold(h, i, side);
        else if (h->lower[i] < h->upper[i]) h->low[i] = h->lower[i], h->high[i] = h->upper[i];
    }
    inner_step(h, 0);
    if (!(look(h) < INFINITY)) return STOPPED;
    accept(h);
    /* by the size of this point: one far out, where the search began, may have widened the bounds beyond all measure */
    for (int i = 0; i < h->active_rows; i++)
        if (!(h->beyond[i] <= 1e-10 * h->size[i])) return STOPPED;
    return leaving_rows(h, 0, SETTLED, SIGNIFICANT) || !is_accurate(h) ? STOPPED : OPTIMAL;
}

static double violation(const Hierarchy *h, int row, const double *y) {
    double value = value_of(h, row, y);
    return value > h->upper[row] ? value - h->upper[row] : value < h->lower[row] ? h->lower[row] - value : 0.0;
}

/* whether the first rows are met at y as well as at another point, but for rounding; NULL: whether they hold */
static int as_good_as(const Hierarchy *h, const double *y, const double *other) {
    double length = sqrt(other ? dot(other, other, h->n) : dot(y, y, h->n)), reach = 1.0 + length;
    if (!other && !(length < FAR)) reach = 1.0;
    for (int i = 0; i < h->active_rows; i++)
        if (!(violation(h, i, y) <= (other ? violation(h, i, other) : 0.0) + 1e-9 * h->norm[i] * reach)) return 0;
    return 1;
}

/* the point of least norm that meets the first levels as well as can be: into y_safe */
static void find_safe_point(Hierarchy *h, const signed char *start) {
    int cycles = 0;
    inner_step(h, 0);
    if (look(h) > 0.0) {
        guess_active_set(h, 0, start);
        if (search(h, 50 + 2 * h->active_rows, 0, &cycles) == STOPPED && cycles) break_cycle(h, 50 + 2 * h->active_rows);
    } else accept(h);
    memcpy(h->y_safe, h->y, (size_t)h->n * sizeof(double));
    release_all(h);
}

/* the point nearest to y that the guess finds to meet the first levels: into y_near */
static void find_near_point(Hierarchy *h, const double *y, const signed char *start) {
    inner_step(h, 0); /* the prefix's part of w; the rest is that of y */
    memcpy(h->y_new, y, (size_t)h->n * sizeof(double));
    for (int j = 0; j < h->reflectors; j++) reflect(h, j, &h->y_new, 1);
    memcpy(h->w + h->prefix_end, h->y_new + h->prefix_end, (size_t)(h->n - h->prefix_end) * sizeof(double));
    point_of(h);
    values_of_rows(h);
    guess_active_set(h, 0, start);
    memcpy(h->y_near, h->y, (size_t)h->n * sizeof(double));
    release_all(h);
}

/* What is left to do where the search was stopped: the rows of the levels down to the first that has inequalities are
   kept, as near to the point that was reached as can be; where they can't all hold, as well as they can be met. No clock
   bounds this. It begins with the rows that were held when the search was stopped, so that less is left to do. */
static void keep_first_levels(Hierarchy *h) {
    double *reached = h->y_reached, *best = reached;
    signed char *start = h->guess->kept;
    memcpy(reached, h->y, (size_t)h->n * sizeof(double));
    memcpy(start, h->side, (size_t)h->rows);
    release_all(h);
    h->active_levels = min_int(h->prefix_level + 1, h->levels);
    h->active_rows = h->start[h->active_levels];
    h->deadline = INFINITY;
    h->pulls = 0;
    if (!as_good_as(h, reached, NULL)) {
        find_near_point(h, reached, start);
        best = h->y_near;
        if (!as_good_as(h, best, NULL)) { /* perhaps they can't hold */
            find_safe_point(h, start);
            if (as_good_as(h, reached, h->y_safe)) best = reached;
            else if (!as_good_as(h, best, h->y_safe)) best = h->y_safe;
        }
    }
    memcpy(h->y, best, (size_t)h->n * sizeof(double));
    h->pulls = 0;
    h->active_levels = h->levels;
    h->active_rows = h->rows;
}

/* whether the set that was found is the one of the last solve */
static int as_before(const Hierarchy *h) { return !memcmp(h->side, h->before, (size_t)h->rows); }

/* whether the solution of the equalities alone is the answer: no inequality is in the way */
static enum Status without_inequalities(Hierarchy *h) {
    if (!(h->length < INFINITY)) return UNSOUND;
    double worst = look(h);
    if (worst != worst) return UNSOUND;
    if (worst > 0.0) return STOPPED;
    accept(h);
    return is_accurate(h) ? OPTIMAL : STOPPED;
}

/* How far apart a guess takes the levels: little, where that is cheap; else as was best lately. From time to time another
   way is tried. */
static int best_apart(Hierarchy *h) {
    int best = 0, worst = 0;
    for (int i = 1; i <= FURTHEST; i++) {
        if (h->cost[0] > CHEAP && h->cost[i] < h->cost[best]) best = i;
        if (h->cost[i] > h->cost[worst]) worst = i;
    }
    if (!(h->cost[0] > CHEAP)) return 0;
    if (h->since < AGAIN) return h->since++, best;
    h->since = 0;
    return best ? 0 : worst;
}

/* A guess, and the search from it. */
static enum Status guess_and_search(Hierarchy *h, int *cycles) {
    int first = h->apart = best_apart(h), steps = h->steps, guesses = h->guesses;
    while (!guess_active_set(h, h->apart, h->before) && h->apart) h->apart--; /* it has lost its way */
    enum Status status = search(h, h->max_steps, 0, cycles);
    double cost = h->steps - steps + ROUND * (h->guesses - guesses);
    h->cost[first] += h->cost[first] > 0.0 ? LEARNT * (cost - h->cost[first]) : cost;
    return status;
}

/* From the solution of the equalities, without a guess: where that led to a set whose numbers tell nothing. With many
   unknowns the way from there is long, and seldom ends better. */
static enum Status search_anew(Hierarchy *h, int *cycles) {
    release_all(h);
    inner_step(h, 0);
    memcpy(h->y, h->y_new, (size_t)h->n * sizeof(double));
    *cycles = 0;
    return search(h, h->max_steps - h->steps, 0, cycles);
}

static enum Status solve(Hierarchy *h) {
    int cycles = 0;
    enum Status status;
    factor_prefix(h);
    if (h->lasting > OFTEN && hold_as_before(h)) { /* the last set, where that was often right lately */
        status = search(h, 1, 0, &cycles);
        if (status != STOPPED) return status;
        release_all(h);
    }
    inner_step(h, 0);
    status = without_inequalities(h);
    if (status != STOPPED || !h->loose_count) return status;
    status = guess_and_search(h, &cycles);
    if (status == STOPPED && h->n <= SMALL && h->steps < h->max_steps && now() < h->deadline) status = search_anew(h, &cycles);
    if (status == STOPPED && cycles && now() < h->deadline) status = break_cycle(h, h->max_steps);
    return status;
}

/* the first row whose value is not finite */
static int row_at_fault(const Hierarchy *h, const double *value) {
    for (int i = 0; i < h->rows; i++)
        if (!(fabs(value[i]) < INFINITY)) return i;
    return 0;
}

/* how long keeping the first levels may take next time: a busy machine raises it by a half at most */
static void learn_keeping(Hierarchy *h, double took) {
    double most = 1.5 * h->keeping + 5e-5;
    if (took > h->keeping) h->keeping = took < most ? took : most;
    else h->keeping += 0.03 * (took - h->keeping);
}

static enum Status hierarchy_solve(Hierarchy *h) {
    int bad = prepare(h), hurried = h->deadline < INFINITY;
    const double *value = h->value_new;
    if (hurried) {
        double most = KEEPS * (h->deadline - now());
        h->deadline -= h->keeping < most ? h->keeping : most > 0.0 ? most : 0.0;
    }
    h->bad_row = bad;
    enum Status status = bad < 0 ? solve(h) : UNSOUND;
    if (status != UNSOUND) h->lasting += 0.1 * (as_before(h) - h->lasting);
    if (status == STOPPED) {
        /* a guess can end in NaN: what is kept is then near nothing */
        if (!(dot(h->y, h->y, h->n) < INFINITY)) memset(h->y, 0, (size_t)h->n * sizeof(double));
        double began = hurried ? now() : 0.0;
        keep_first_levels(h);
        if (hurried) learn_keeping(h, now() - began);
        for (int i = 0; i < h->rows; i++) h->value[i] = value_of(h, i, h->y);
        if (!(dot(h->y, h->y, h->n) < INFINITY)) status = UNSOUND, value = h->value;
    }
    if (status != UNSOUND) return status;
    if (bad < 0) h->bad_row = row_at_fault(h, value);
    hierarchy_forget(h);
    return status;
}
