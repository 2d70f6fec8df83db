/* The memory of a hierarchy: one block, laid out once. */
#include "guess_room.h"
#include "hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer knows where a block ends, but not its parts: it is told. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WATCHED
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(from, size) ((void)(from), (void)(size))
#endif

/* hands out parts of a block; a first pass with no block finds out how large it must be */
typedef struct {
    char *block;
    size_t used;
} Room;

static void *part(Room *room, size_t count, size_t size) {
    void *found = room->block ? room->block + room->used : NULL;
    size_t end = room->used + count * size;
    room->used += ((count + 8) * size + 63) & ~(size_t)63;
    if (found) ASAN_POISON_MEMORY_REGION(room->block + end, room->used - end);
    return found;
}

#define DOUBLES(count) part(room, (size_t)(count), sizeof(double))
#define INTS(count) part(room, (size_t)(count), sizeof(int))
#define BYTES(count) part(room, (size_t)(count), 1)

static void lay_out(Hierarchy *h, Room *room) {
    size_t n = (size_t)h->n, ld = (size_t)h->ld, m = (size_t)h->rows, p = (size_t)h->levels;
    h->level_of = INTS(m), h->from = INTS(m), h->to = INTS(m);
    h->A = DOUBLES(m * ld), h->T = DOUBLES(m * ld), h->P = DOUBLES(m * ld), h->V = DOUBLES(n * ld);
    h->lower = DOUBLES(m), h->upper = DOUBLES(m), h->norm = DOUBLES(m);
    h->y = DOUBLES(ld), h->value = DOUBLES(m), h->y_new = DOUBLES(ld), h->value_new = DOUBLES(m);
    h->side = BYTES(m), h->before = BYTES(m), h->prefixed = BYTES(m), h->settled = BYTES(m), h->stuck = BYTES(m), h->lenient = BYTES(m);
    h->multipliers = DOUBLES((p + 1) * m), h->pull = DOUBLES((p + 1) * ld), h->pull_size = DOUBLES(p + 1), h->missed = DOUBLES(p + 1);
    h->pulling = INTS(p + 1);
    h->held = INTS(m), h->held_count = INTS(p), h->equalities = INTS(m), h->equality_count = INTS(p), h->loose = INTS(m);
    h->low = DOUBLES(m), h->high = DOUBLES(m), h->target = DOUBLES(m), h->slack = DOUBLES(m);
    h->prefix_order = INTS(m), h->index = INTS(m), h->left = INTS(m), h->y_safe = DOUBLES(ld), h->y_reached = DOUBLES(ld), h->y_near = DOUBLES(ld);
    h->tau = DOUBLES(n), h->w = DOUBLES(ld), h->beyond = DOUBLES(m), h->size = DOUBLES(m), h->work = DOUBLES(m + n);
    h->line = part(room, m + n, sizeof(double *));
    h->seen = part(room, SEEN, sizeof(unsigned long long));
    h->level = part(room, p, sizeof(Level));
    for (size_t k = 0; k < p; k++) {
        size_t count = (size_t)(h->start[k + 1] - h->start[k]);
        int *order = INTS(count), *pivot = INTS(n);
        double *C = DOUBLES(count * n), *tau = DOUBLES(n), *trail = DOUBLES(count);
        if (!room->block) continue;
        h->level[k].order = order, h->level[k].pivot = pivot, h->level[k].C = C, h->level[k].tau = tau;
        h->level[k].trail = trail;
        for (int i = h->start[k]; i < h->start[k + 1]; i++) h->level_of[i] = (int)k;
    }
}

int hierarchy_new(Hierarchy *h, int n, int levels, const int *sizes) {
    memset(h, 0, sizeof *h);
    h->n = n, h->levels = levels, h->ld = (n + 7) & ~7;
    h->start = calloc((size_t)levels + 1, sizeof(int));
    if (!h->start) return 0;
    for (int k = 0; k < levels; k++) h->start[k + 1] = h->start[k] + sizes[k];
    h->rows = h->start[levels];
    h->rank_tolerance = 1e-9, h->max_steps = 1000, h->deadline = INFINITY, h->lasting = 1.0;
    Room room = {NULL, 0};
    lay_out(h, &room);
    h->memory = calloc(room.used, 1);
    h->guess = guess_new(n, h->rows, levels);
    if (!h->memory || !h->guess) {
        hierarchy_free(h);
        return 0;
    }
    room.block = h->memory, room.used = 0;
    lay_out(h, &room);
    for (int i = 0; i < h->rows; i++) h->to[i] = n;
    return 1;
}

void hierarchy_free(Hierarchy *h) {
    free(h->start), free(h->memory);
    guess_free(h->guess);
    memset(h, 0, sizeof *h);
}

void hierarchy_forget(Hierarchy *h) {
    memset(h->side, 0, (size_t)h->rows);
    memset(h->y, 0, (size_t)h->n * sizeof(double));
    h->lasting = 1.0;
    memset(h->cost, 0, sizeof h->cost);
    h->since = 0;
}

static void lay_out_guess(struct Guess *s, Room *room, size_t rows, size_t levels) {
    size_t ld = (size_t)s->ld, size = (size_t)s->size + 1, all = rows + 8;
    s->row = INTS(size), s->side = INTS(size);
    s->set_aside = BYTES(all), s->active = BYTES(all), s->kept = (signed char *)BYTES(all);
    s->bound = DOUBLES(size), s->lambda = DOUBLES(size);
    s->D = DOUBLES(size * ld), s->Q = DOUBLES(size * ld), s->R = DOUBLES(size * size), s->B = DOUBLES(all * ld);
    s->root = DOUBLES(levels), s->value_start = DOUBLES(all);
    s->w_start = DOUBLES(ld), s->u = DOUBLES(ld), s->g = DOUBLES(ld), s->across = DOUBLES(ld + 1), s->x = DOUBLES(ld), s->y_kept = DOUBLES(ld);
}

struct Guess *guess_new(int n, int rows, int levels) {
    struct Guess *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->ld = (n + 7) & ~7;
    s->size = n + 1;
    Room room = {NULL, 0};
    lay_out_guess(s, &room, (size_t)rows, (size_t)levels);
    s->memory = calloc(room.used, 1);
    if (!s->memory) {
        free(s);
        return NULL;
    }
    room.block = s->memory, room.used = 0;
    lay_out_guess(s, &room, (size_t)rows, (size_t)levels);
    return s;
}

void guess_free(struct Guess *s) {
    if (!s) return;
    free(s->memory), free(s);
}
