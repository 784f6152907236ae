"""The texts of the law suite: the bundled example and a few odd ones, 24 pairs."""

from __future__ import annotations

from importlib.resources import files

from monge.types import Segment


def lines(name: str) -> list[str]:
    return (files("monge") / "example" / f"{name}.txt").read_text("utf-8").split("\n")[:-1]


A, B, R, R2 = lines("system-a"), lines("system-b"), lines("reference"), lines("reference-2")
LONG = " ".join(R[:8])  # beyond what the tiny models read

ODD = [
    ("👩‍👩‍👧‍👦 A family at the beach 🏖️ 🇩🇪", "The family is on the beach."),
    ("敏捷的棕色狐狸跳过了懒狗。", "那只敏捷的狐狸跳过一只懒狗。"),
    ("השועל החום המהיר קופץ מעל הכלב", "الثعلب البني السريع يقفز فوق الكلب"),
    ("x", "y"),
    (R[3], R[3]),
    (LONG, R[0]),
    ("Cafe\u0301 de\u0301ja\u0300 vu", "Café déjà vu"),
    ("[CLS] is not [SEP] a mark <s> here </s>", "It is not a mark here."),
    ("See https://example.org/a?b=c&d=e#f v1.2.3", "https://example.org v1.2"),
    ("?! ...", "… —"),
    ("\ue000\ue001 \U0010ffff t\u030a\u0301\u0327\u0330o", "private use and marks"),
    ("ha ha ha ha ha ha ha ha", "ha"),
]
PAIRS = [((A if i % 2 else B)[i], R[i]) for i in range(12)] + ODD
SAMPLE = tuple(
    Segment(str(i + 1), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(PAIRS)
)
SHORT_SAMPLE = tuple(segment for segment in SAMPLE if segment.hypothesis != LONG)
"""The sample without its long text, for laws that pad all texts to the longest."""
CORPUS, OWN_CORPUS = (*R, *R2), (*A, *B)

# compared all with all; repetition is where the printed objectives of TWMD go wrong
TEXTS = (R[0], B[0], R[1], A[4], B[4], "ha", "ha ha ha ha ha ha ha ha", "x", "?! ...", PAIRS[13][0])
ALL_PAIRS = tuple(
    Segment(f"{i}-{j}", one, (other,))
    for i, one in enumerate(TEXTS)
    for j, other in enumerate(TEXTS)
)

BLANK = {
    "nothing": "",
    "spaces": "   ",
    "NBSP": "\u00a0",
    "ZWSP": "\u200b",
    "tab": "\t\u3000",
    "BOM": "\ufeff",
}
