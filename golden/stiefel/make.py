"""Makes the fixture of this folder with geoopt. Needs geoopt 0.5.1, torch 2.15.0, numpy 2.4.6."""

from pathlib import Path

import geoopt
import numpy as np
import torch

here = Path(__file__).parent
generator = np.random.default_rng(20)
manifold = geoopt.EuclideanStiefel()

matrices = generator.standard_normal((8, 7, 3))
directions = generator.standard_normal((8, 7, 3))
points = manifold.projx(torch.from_numpy(matrices))
tangents = manifold.proju(points, 0.3 * torch.from_numpy(directions))
arrays = {
    "matrices": matrices,
    "directions": directions,
    "projx": points,
    "proju": manifold.proju(points, torch.from_numpy(directions)),
    "tangents": tangents,
    "retr": manifold.retr(points, tangents),
    "transp": manifold.transp(points.flip(0), points, tangents.flip(0)),
    "lifted": manifold.proju(points, points.flip(0) - points),
    "expmap": geoopt.EuclideanStiefelExact().expmap(points, tangents),
}
for name, array in arrays.items():
    np.save(here / f"{name}.npy", np.ascontiguousarray(array))
