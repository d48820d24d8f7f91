"""trec_eval's measures of one query, written as their definitions read."""

import math


def ranking(scores):
    """Document ids of {id: score}, best first; ties by descending id, as bytes."""
    return sorted(scores, key=lambda id: (scores[id], id.encode()), reverse=True)


def ndcg(order, grades, k):
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal[:k], 1))
    found = sum(max(0, grades.get(id, 0)) / math.log2(rank + 1) for rank, id in enumerate(order[:k], 1))
    return found / best if best else 0.0


def recall(order, grades, k):
    relevant = {id for id, grade in grades.items() if grade > 0}
    return len(relevant.intersection(order[:k])) / len(relevant) if relevant else 0.0


def mrr(order, grades, k):
    return next((1 / rank for rank, id in enumerate(order[:k], 1) if grades.get(id, 0) > 0), 0.0)


def mean_precision(order, grades, k):
    relevant, found, total = sum(grade > 0 for grade in grades.values()), 0, 0.0
    for rank, id in enumerate(order[:k], 1):
        if grades.get(id, 0) > 0:
            found += 1
            total += found / rank
    return total / relevant if relevant else 0.0
