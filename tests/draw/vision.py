"""How colours look to people who lack one kind of cone, and how far apart they look (CIELAB)."""

import numpy as np

from gpuviz.base.arrays import F64, Rgba
from gpuviz.draw.palette import linear

# Machado, Oliveira, Fernandes: "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", IEEE TVCG 15 (2009), severity 1.0, on linear RGB.
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def seen(colors: Rgba, sight: str) -> F64:
    """(..., 4) colours to (..., 3) CIELAB, as seen."""
    light = np.clip(linear(colors) @ SIGHT[sight].T, 0.0, 1.0)
    v = light @ _XYZ.T / _WHITE
    f = np.where(v > 216 / 24389, np.cbrt(np.maximum(v, 1e-9)), (24389 / 27 * v + 16) / 116)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def least_distance(one: F64, other: F64) -> float:
    """Smallest CIELAB distance (1976) between a colour of one set and a colour of the other."""
    return float(np.linalg.norm(one[:, None] - other[None], axis=-1).min())
