"""Small judged tables for the tests of studies."""

import csv

import numpy as np

WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "lazy",
    "dogs",
    "while",
    "nine",
    "small",
    "cats",
    "watch",
    "from",
    "a",
    "warm",
    "wall",
]


def write(path, groups=("one", "two"), n=24, seed=0, systems=("",), **columns):
    """A table whose human score is the share of the reference's words that were kept, with
    noise.
    """
    random = np.random.default_rng(seed)
    rows = []
    for group in groups:
        for number in range(n):
            for system in systems:
                reference = list(random.choice(WORDS, 8))
                kept = random.uniform(size=8) < random.uniform(0.2, 1)
                hypothesis = [
                    word if keep else "zzz" for word, keep in zip(reference, kept, strict=True)
                ]
                human = kept.mean() + random.normal() * 0.1
                row = {
                    "id": str(number),
                    "hypothesis": " ".join(hypothesis),
                    "reference": " ".join(reference),
                }
                row |= {"human": f"{human:.4f}", "group": group, "system": system}
                rows.append(row | {name: value(human) for name, value in columns.items()})
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
