/* The directions that levels are about to lose, and what they are computed in; laid out with the hierarchy. */
#ifndef WBC_SOFT_ROOM_H
#define WBC_SOFT_ROOM_H

#define SOFT_MOST 12 /* so many directions are softened at the most, the first ones */

struct Soft {
    int count;
    double most_load;                        /* the most that any direction of length 1 may take; < 0: not known yet */
    int level[SOFT_MOST], about[SOFT_MOST];  /* whose direction it is, and the row that has most of it */
    double share[SOFT_MOST], sigma[SOFT_MOST], lambda[SOFT_MOST], bound[SOFT_MOST], length[SOFT_MOST];
    double *line[SOFT_MOST];                 /* the rows in the coordinates w: of `turned` */
    double *row, *turned;                    /* in y, and in w */
    double *W, *X, *Y, *E, *rest, *tau;      /* of a level at a time */
    double *N, *pull;                        /* of each level: how soft rows weigh there, what they pull with */
    int *pivot;
};

struct Soft *soft_new(int n, int rows, int levels);
void soft_free(struct Soft *soft);

#endif
