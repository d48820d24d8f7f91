"""Reference implementation of exact optimal transport: cheapest paths in the residual graph, each by Bellman and
Ford."""

import math


def least_cost(cost: list[list[float]], supply: list[int], demand: list[int]) -> float:
    """The least sum of flow x cost with these row sums and column sums."""
    rows, columns = range(len(supply)), range(len(demand))
    left, wanted = list(supply), list(demand)
    flow = [[0] * len(demand) for _ in rows]
    while any(left):
        distance = {
            **{("row", i): 0.0 if left[i] else math.inf for i in rows},
            **{("column", j): math.inf for j in columns},
        }
        before: dict[tuple[str, int], tuple[str, int]] = {}
        for _ in range(len(distance)):
            for i in rows:
                for j in columns:
                    ways = [(("row", i), ("column", j), cost[i][j])]
                    if flow[i][j]:
                        ways.append((("column", j), ("row", i), -cost[i][j]))
                    for start, end, length in ways:
                        if distance[start] + length < distance[end] - 1e-12:
                            distance[end] = distance[start] + length
                            before[end] = start
        end = min((("column", j) for j in columns if wanted[j]), key=distance.__getitem__)
        path = [end]
        while path[-1] in before:
            path.append(before[path[-1]])
        moves = list(zip(path[1:], path[:-1], strict=True))
        backward = [flow[end[1]][start[1]] for start, end in moves if start[0] == "column"]
        amount = min(left[path[-1][1]], wanted[path[0][1]], *backward)
        for start, end in moves:
            if start[0] == "row":
                flow[start[1]][end[1]] += amount
            else:
                flow[end[1]][start[1]] -= amount
        left[path[-1][1]] -= amount
        wanted[path[0][1]] -= amount
    return sum(flow[i][j] * cost[i][j] for i in rows for j in columns)
