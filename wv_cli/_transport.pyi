import numpy as np
from numpy.typing import NDArray

def least_cost(cost: NDArray[np.float64], supply: NDArray[np.int64], demand: NDArray[np.int64]) -> float: ...
