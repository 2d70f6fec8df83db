/* What the guess of the active set works in; laid out with the hierarchy. */
#ifndef WBC_GUESS_ROOM_H
#define WBC_GUESS_ROOM_H

struct Guess {
    int ld, count, size;       /* rows that are active; the most that can be */
    int *row, *side;           /* of the active ones */
    unsigned char *set_aside, *active;
    double *bound, *lambda;    /* e and the multipliers of the active rows */
    double *D, *Q, *R;         /* D = R Q with orthonormal rows of Q; a line each an active row */
    double *B, *root;          /* of each level: its rows in the columns of the levels above; the root of its weight */
    double *w_start, *value_start, *u, *g, *across, *x, last;
    double worst;              /* violation of a row on the way, as a share of its norm */
    double dependent;          /* a row that adds less than this share of itself depends on those before it */
    signed char *kept;         /* the working set while a second guess is made */
    double *y_kept;            /* and the point */
    void *memory;
};

struct Guess *guess_new(int n, int rows, int levels);
void guess_free(struct Guess *guess);

#endif
