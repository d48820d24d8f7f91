#!/bin/sh
# safetensors 0.8.0: `save_file` and `save` of safetensors.numpy for an array that is a transpose, as PCA and SVD give.
# Guess: numpy.load gives back what numpy.save was given, whatever its order in memory; so does safetensors up to 0.7.0,
# and its safetensors.torch refuses a tensor that is not contiguous.
# Seen: 0.8.0 writes the bytes as they stand in memory under the shape of the transpose. The file is valid and each row
# is a mixture of others: the nearest word is another one. Nothing is said; np.ascontiguousarray before helps.
# Output:
#   safetensors 0.7.0: rows [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]] nearest to cat: kitten
#   safetensors 0.8.0: rows [[1.0, 0.9], [0.0, 0.0], [0.1, 1.0]] nearest to cat: river
#   safetensors 0.8.0, contiguous: rows [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]] nearest to cat: kitten
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
cat >"$place/save.py" <<'PYTHON'
import sys

import numpy as np
from safetensors import __version__
from safetensors.numpy import load_file, save_file

words = ["cat", "kitten", "river"]
by_dimension = np.array([[1.0, 0.9, 0.0], [0.0, 0.1, 1.0]], np.float32)
vectors = by_dimension.T
contiguous = len(sys.argv) > 2
save_file({"vectors": np.ascontiguousarray(vectors) if contiguous else vectors}, "vectors.safetensors")
rows = load_file("vectors.safetensors")["vectors"]
nearest = words[1 + int((rows[1:] @ rows[0]).argmax())]
how = ", contiguous" * contiguous
print(f"safetensors {__version__}{how}: rows {rows.round(3).astype(str).astype(float).tolist()} nearest to cat: {nearest}")
sys.exit(0 if nearest == sys.argv[1] else "the behaviour has changed")
PYTHON
cd "$place"
venv/bin/pip install --quiet 'safetensors==0.7.0' 'numpy==2.4.6'
venv/bin/python save.py kitten
venv/bin/pip install --quiet 'safetensors==0.8.0'
venv/bin/python save.py river
venv/bin/python save.py kitten contiguous
