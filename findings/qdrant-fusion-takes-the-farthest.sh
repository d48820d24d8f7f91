#!/bin/sh
# qdrant-client 1.20.0, local mode: fusion of two searches by Euclidean distance with Fusion.DBSF.
# Guess: what both searches find first is first; with Fusion.RRF it is.
# Seen: the order is the reverse. The fusion of scores takes the distances as they are, although for Euclidean and
# Manhattan distance less is better, and sorts their sums downward. A search of which the farthest hits are kept then
# drops the row that equals the query. Nothing is said; issue 10611 of qdrant reports the same of the server. With cosine
# and dot product DBSF is right.
# Output:
#   Euclid: alone ['same', 'near', 'far'], rrf ['same', 'near', 'far'], dbsf ['far', 'near', 'same']
#   Manhattan: alone ['same', 'near', 'far'], rrf ['same', 'near', 'far'], dbsf ['far', 'near', 'same']
#   Cosine: alone ['same', 'near', 'far'], rrf ['same', 'near', 'far'], dbsf ['same', 'near', 'far']
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'qdrant-client==1.20.0' 'numpy==2.4.6'
"$place/venv/bin/python" - <<'PYTHON'
import sys

from qdrant_client import QdrantClient, models

ROWS = {"same": [1, 0], "near": [1, 1], "far": [0, 3], "farthest": [-9, 0]}
NAMES = list(ROWS)
client = QdrantClient(":memory:")
found = {}
for distance in (models.Distance.EUCLID, models.Distance.MANHATTAN, models.Distance.COSINE):
    collection = str(distance.value)
    space = models.VectorParams(size=2, distance=distance)
    client.create_collection(collection, vectors_config={"title": space, "text": space})
    points = [
        models.PointStruct(id=NAMES.index(name), vector={"title": row, "text": row}) for name, row in ROWS.items()
    ]
    client.upsert(collection, points)
    search = {name: models.Prefetch(query=[1, 0], using=name, limit=3) for name in ("title", "text")}
    answers = {"alone": client.query_points(collection, query=[1, 0], using="title", limit=3)}
    for fusion in (models.Fusion.RRF, models.Fusion.DBSF):
        query = models.FusionQuery(fusion=fusion)
        answers[fusion.value] = client.query_points(collection, prefetch=[*search.values()], query=query, limit=3)
    orders = {name: [NAMES[point.id] for point in answer.points] for name, answer in answers.items()}
    print(f"{collection}: " + ", ".join(f"{name} {order}" for name, order in orders.items()))
    found[collection] = orders
best = ["same", "near", "far"]
right = all(orders["alone"] == orders["rrf"] == best for orders in found.values())
right &= found["Euclid"]["dbsf"] == found["Manhattan"]["dbsf"] == best[::-1] and found["Cosine"]["dbsf"] == best
sys.exit(0 if right else "the behaviour has changed")
PYTHON
