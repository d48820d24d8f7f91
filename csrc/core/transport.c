/* See transport.h. A row's tree of shortest paths grows column by column, from the row to all columns and from a column
 * back to the rows that send it something, until it meets a column that wants more. */
#include "core/transport.h"

#include <float.h>
#include <string.h>

typedef struct {
    int64_t rows, columns;
    const double *cost;
    double *row_potential, *column_potential; /* cost - both >= 0, and 0 where something flows */
    double *row_distance, *column_distance;
    int64_t *flow;
    int64_t *came_from; /* the row before a column on its path */
    int64_t *entered;   /* the column before a row on its path; NOWHERE: the row is not in the tree */
    uint8_t *settled;   /* columns whose distance is final */
} problem;

enum { ROOT = -1, NOWHERE = -2 };

int64_t wv_transport_scratch(int64_t rows, int64_t columns) {
    return (int64_t)sizeof(double) * 2 * (rows + columns) + (int64_t)sizeof(int64_t) * (rows * columns + rows + columns) +
           columns;
}

static problem laid_out(int64_t rows, int64_t columns, const double *cost, void *scratch) {
    problem p = {.rows = rows, .columns = columns, .cost = cost};
    p.row_potential = scratch;
    p.column_potential = p.row_potential + rows;
    p.row_distance = p.column_potential + columns;
    p.column_distance = p.row_distance + rows;
    p.flow = (int64_t *)(p.column_distance + columns);
    p.came_from = p.flow + rows * columns;
    p.entered = p.came_from + columns;
    p.settled = (uint8_t *)(p.entered + rows);
    memset(p.flow, 0, (size_t)(rows * columns) * sizeof *p.flow);
    memset(p.column_potential, 0, (size_t)columns * sizeof *p.column_potential);
    for (int64_t i = 0; i < rows; i++) {
        double least = DBL_MAX;
        for (int64_t j = 0; j < columns; j++) least = cost[i * columns + j] < least ? cost[i * columns + j] : least;
        p.row_potential[i] = least;
    }
    return p;
}

/* The ways from a row that has come into the tree. */
static void scan_row(problem *p, int64_t row, double distance) {
    const double *cost = p->cost + row * p->columns;
    p->row_distance[row] = distance;
    for (int64_t j = 0; j < p->columns; j++) {
        if (p->settled[j]) continue;
        double reduced = cost[j] - p->row_potential[row] - p->column_potential[j];
        double through = distance + (reduced > 0 ? reduced : 0); /* below 0 is rounding */
        if (through < p->column_distance[j]) {
            p->column_distance[j] = through;
            p->came_from[j] = row;
        }
    }
}

static int64_t nearest_column(const problem *p) {
    int64_t nearest = -1;
    double least = DBL_MAX;
    for (int64_t j = 0; j < p->columns; j++) {
        if (!p->settled[j] && p->column_distance[j] < least) {
            least = p->column_distance[j];
            nearest = j;
        }
    }
    return nearest;
}

/* The column where the cheapest path from `root` to one that wants more ends. */
static int64_t cheapest_path(problem *p, int64_t root, const int64_t *demand) {
    memset(p->settled, 0, (size_t)p->columns);
    for (int64_t i = 0; i < p->rows; i++) p->entered[i] = NOWHERE;
    for (int64_t j = 0; j < p->columns; j++) p->column_distance[j] = DBL_MAX;
    p->entered[root] = ROOT;
    scan_row(p, root, 0);
    for (;;) {
        int64_t column = nearest_column(p);
        if (column < 0 || demand[column] > 0) return column;
        p->settled[column] = 1;
        for (int64_t i = 0; i < p->rows; i++) {
            if (p->entered[i] != NOWHERE || p->flow[i * p->columns + column] == 0) continue;
            p->entered[i] = column;
            scan_row(p, i, p->column_distance[column]);
        }
    }
}

/* Potentials under which every way on the tree's paths costs nothing. */
static void shift_potentials(problem *p, double length) {
    for (int64_t i = 0; i < p->rows; i++)
        if (p->entered[i] != NOWHERE) p->row_potential[i] += length - p->row_distance[i];
    for (int64_t j = 0; j < p->columns; j++)
        if (p->settled[j]) p->column_potential[j] -= length - p->column_distance[j];
}

/* Sends what the path to `end` can take. */
static void send(problem *p, int64_t root, int64_t end, int64_t *supply, int64_t *demand) {
    int64_t amount = supply[root] < demand[end] ? supply[root] : demand[end];
    for (int64_t column = end, row; (row = p->came_from[column]) != root; column = p->entered[row]) {
        int64_t back = p->flow[row * p->columns + p->entered[row]];
        amount = back < amount ? back : amount;
    }
    for (int64_t column = end;;) {
        int64_t row = p->came_from[column];
        p->flow[row * p->columns + column] += amount;
        column = p->entered[row];
        if (column == ROOT) break;
        p->flow[row * p->columns + column] -= amount;
    }
    supply[root] -= amount;
    demand[end] -= amount;
}

double wv_transport(int64_t rows, int64_t columns, const double *cost, int64_t *supply, int64_t *demand,
                    void *scratch) {
    problem p = laid_out(rows, columns, cost, scratch);
    for (int64_t root = 0; root < rows; root++) {
        while (supply[root] > 0) {
            int64_t end = cheapest_path(&p, root, demand);
            if (end < 0) break; /* nothing wants more: the sums differ */
            shift_potentials(&p, p.column_distance[end]);
            send(&p, root, end, supply, demand);
        }
    }
    double total = 0;
    for (int64_t i = 0; i < rows * columns; i++) total += (double)p.flow[i] * cost[i];
    return total;
}
