"""Masks of pixels."""

import numpy as np


def count(mask):
    return int(np.count_nonzero(mask))


def dilated(mask, pixels):
    """A mask dilated by its eight neighbours."""
    for _ in range(pixels):
        wide = np.pad(mask, 1)
        mask = np.logical_or.reduce([wide[y : y + mask.shape[0], x : x + mask.shape[1]] for y in range(3) for x in range(3)])
    return mask
