"""The mutation law: whatever moves a score is in its signature and in every cache key.

Each test below changes one input that can reach a score, and scores the same pairs again. Then one
of these holds: the change is refused; no score moved; or the signature and the fingerprint of
cached scores changed, and a cache that was filled before the change gives what a run without a
cache gives. Inputs are enumerated from the code and from the files on disk, so that a new setting,
file, or array is covered by itself.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from law_bench import RememberedBarycentres
from safetensors.torch import load_file, save_file

import monge
from monge.encoders import digests
from monge.encoders.models import find_model
from monge.errors import MongeError
from monge.metrics.axes import AXES
from monge.metrics.codec import settable, show_choice
from monge.metrics.lexical import LEXICAL
from monge.metrics.presets import resolve
from monge.metrics.signature import ModelIdentity
from monge.scoring import clouds
from monge.scoring.identity import Identity
from monge.types import CorpusStats
from monge.types.settings import (
    COUNT,
    LENGTH,
    NAME,
    NGRAM,
    SLACK,
    SWEEPS,
    TEMPERATURES,
    TEXT,
    WHOLE,
)

HYPOTHESES = [
    "the cat sat on the mat .",
    "a dog ran to the house , and slept",
    "The cat didn't run zzz zzy",
    "hello world",
]
REFERENCES = [
    "the cat slept on a mat",
    "the dog ran home .",
    "the newest cat ran zzy , zzz",
    "world , hello !",
]
SOURCES = ["le chat cat", "the house dog ran", "cat zzz", "hello"]


def outcome(
    name: str, cache: Path | None = None, *, stats: CorpusStats | None = None, **options: Any
) -> Any:
    """Every score with the signature, and the fingerprints of cached scores; the error where the
    input is refused.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sides and words that are not used
            metric = monge.load(name, device="cpu", cache=cache, **options)
            result = metric.score(HYPOTHESES, REFERENCES, sources=SOURCES, stats=stats)
    except MongeError as error:
        return error
    parts = np.stack([result.segments, *result.parts.values()])
    member = metric.scorer.members.get("")  # a blend is not cached, its members are
    plain = member is not None and not metric.scorer.fits
    fingerprint = member.fingerprint(stats or CorpusStats("")) if plain else str(result.signature)
    return parts, str(result.signature), fingerprint


@pytest.fixture(scope="module", autouse=True)
def remembered_barycentres():
    """Compute equal barycentres once: they are most of the time that these tests take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clouds, "barycentre", RememberedBarycentres())
        yield


def hold(before: Any, cache: Path, what: str, name: str, **options: Any) -> tuple[Any, bool]:
    """Score without a cache and with one, and hold both to the law; tell whether a score moved."""
    after = outcome(name, **options)
    if isinstance(after, MongeError):
        return after, False
    return after, check(before, after, outcome(name, cache, **options), what)


def check(before: Any, after: Any, cached: Any, what: str) -> bool:
    """Hold the outcome of a change to the law; tell whether it moved a score."""
    assert not isinstance(cached, MongeError), (what, cached)
    assert np.array_equal(after[0], cached[0], equal_nan=True), (
        f"{what}: the cache serves a score of before the change"
    )
    moved = after[0].shape != before[0].shape or not np.allclose(
        after[0], before[0], rtol=0, atol=1e-7
    )
    if moved:
        assert after[1] != before[1], f"{what}: scores moved under one signature\n{after[1]}"
        assert after[2] != before[2], f"{what}: scores moved under one fingerprint"
    return moved


# --- settings: every field of every choice of every axis
# ------------------------------------------------------------

BASES = (
    "twmd",
    "bertscore",
    "moverscore",
    "sms",
    "s+wms",
    "wmdo",
    "baryscore",
    "lazy-emd",
    "sbert",
    "wordset-cka",
)
OTHERS: dict[Any, list[str]] = {
    COUNT: ["2", "3"], WHOLE: ["1"], NGRAM: ["2", "sentence"], SWEEPS: ["1", "3", "converged"], LENGTH: ["6"],
    SLACK: ["0.5/0.1"], TEMPERATURES: ["1/0.5"], TEXT: ["query: "],
}  # fmt: skip


def changes() -> Iterator[tuple[str, list[str]]]:
    """Every setting with other values to try: AXIS=CHOICE, and AXIS.FIELD=VALUE for every field of
    every choice.
    """
    yield (
        "layers",
        ["layers=2", "layers=last2:mean", "layers=last2:pmeans(1,2)", "layers=last2:routing"],
    )
    for axis, choices in AXES.items():
        if axis == "layers":
            continue
        for choice in choices.values():
            first = [] if not choice.name else [f"{axis}={choice.name}"]
            if first:
                yield f"{axis}={choice.name}", first
            for name, field in settable(choice).items():
                kind = field.metadata["kind"]
                if kind is NAME:
                    continue  # models, files and corpora: their content is changed below
                values = [*kind.options] or OTHERS.get(kind) or ["0.5", "0.25", "2"]
                yield (
                    f"{axis}={choice.name or axis}.{name}",
                    [f"{','.join(first)} {axis}.{name}={v}".strip() for v in values],
                )


CHANGES = dict(changes())


@pytest.fixture(scope="module")
def before(tiny_bert, tmp_path_factory):
    """The outcome of every base before any change, and a cache that was filled by them."""
    cache = tmp_path_factory.mktemp("filled")
    return {name: outcome(name, cache, model=str(tiny_bert)) for name in BASES}, cache


@pytest.mark.parametrize("target", CHANGES)
def test_settings(target, before, tiny_bert):
    bases, cache = before
    accepted = 0
    for change in CHANGES[target]:
        settings = change.split(" ")
        if target == "encoder=encoder.prefix":
            settings = [change]
        for base in BASES:
            options = {"model": str(tiny_bert), "settings": settings}
            after, _ = hold(bases[base], cache, f"{base} {settings}", base, **options)
            accepted += not isinstance(after, MongeError)
    needs_files = (
        "fluency=",
        "centre=clp",
        "centre=umd",
        "scale=human",
        "scale=baseline",
        "weights=idf",
    )
    assert accepted or target.startswith(needs_files), (
        f"no base accepts {CHANGES[target]}: it was not tried"
    )


# --- files: every file of a model, an adapter; every number of statistics
# -------------------------------------------


def leaves(
    value: Any, path: tuple[Any, ...] = (), *, long: int = 40, few: int = 6
) -> Iterator[tuple[Any, ...]]:
    """The paths of the leaves of JSON data; of a long list or object the first and the last few."""
    if isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in dict.fromkeys([*keys[:few], *keys[-few:]]) if len(keys) > long else keys:
            yield from leaves(value[key], (*path, key), long=long, few=few)
    else:
        yield path


def mutated(value: Any, path: tuple[Any, ...]) -> Any:
    """A copy of JSON data with another value of the same type at a path."""
    if not path:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return value + 1
        return f"{value}x" if isinstance(value, str) else 1
    changed = value.copy()
    changed[path[0]] = mutated(value[path[0]], path[1:])
    return changed


def rewritten(path: Path, data: bytes) -> None:
    """Write a file as an editor would that keeps its time."""
    status = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


class Files:
    """A directory whose files are changed one place at a time, each change held to the law and
    taken back.
    """

    def __init__(self, directory: Path, cache: Path, name: str, **options: Any) -> None:
        self.directory, self._cache, self._name, self._options = directory, cache, name, options
        self.before = outcome(name, cache, **options)
        assert not isinstance(self.before, MongeError), self.before
        self.inputs = self.moved = 0

    def hold(self, path: Path, data: bytes, what: str) -> None:
        """Change a file, score without a cache and with one, and put the file back."""
        kept = path.read_bytes()
        rewritten(path, data)
        try:
            what = f"{path.name} {what}"
            self.moved += hold(self.before, self._cache, what, self._name, **self._options)[1]
            self.inputs += 1
        finally:
            rewritten(path, kept)

    def hold_json(self, path: Path) -> None:
        """Change every leaf of a JSON file."""
        data = json.loads(path.read_text("utf-8"))
        for leaf in leaves(data):
            self.hold(path, json.dumps(mutated(data, leaf)).encode(), f"{leaf}")

    def hold_tensors(self, path: Path) -> None:
        """Change one number of every tensor of a file."""
        tensors = load_file(path)
        for name, tensor in tensors.items():
            changed = tensor.clone()
            changed.view(-1)[len(changed.view(-1)) // 2] += 0.5
            other = path.with_suffix(".other")
            save_file({**tensors, name: changed}, other, metadata={"format": "pt"})
            data = other.read_bytes()
            other.unlink()
            self.hold(path, data, name)


def test_every_file_of_a_model(tiny_bert, tmp_path):
    model = shutil.copytree(tiny_bert, tmp_path / "model")
    files = Files(model, tmp_path / "cache", "twmd", model=str(model))
    for path in sorted(path for path in model.rglob("*") if path.is_file()):
        if path.suffix == ".json":
            files.hold_json(path)
        elif path.suffix == ".safetensors":
            files.hold_tensors(path)
        else:
            raise AssertionError(f"{path.name}: say how a file of this kind is changed")
    assert files.inputs > 150 and files.moved > 60, (files.inputs, files.moved)


@pytest.fixture
def adapter(tiny_bert, tmp_path):
    """A tuned adapter of the tiny model, with a line to human scores."""
    found = find_model(str(tiny_bert))
    folder = tmp_path / "adapter"
    folder.mkdir()
    torch.manual_seed(5)
    target = "encoder.layer.1.output.dense.weight"
    tensors = {
        f"{target}.low_rank_out": torch.randn(32, 2),
        f"{target}.low_rank_in": 0.1 * torch.randn(2, 64),
    }
    save_file(tensors, folder / "adapter.safetensors")
    _, spec = resolve("twmd", ["layers=3"])
    settings = {axis: text for axis, text in spec.written().items() if axis != "encoder"}
    base = {"name": "tiny", "model": str(tiny_bert), "weights": found.weights_digest,
            "tokenizer": found.tokenizer_digest, "config": found.config_digest}  # fmt: skip
    card = {
        "format": 1, "base": base, "layers": [3], "settings": {**settings, "encoder": show_choice(spec.encoder)},
        "affine": {"slope": 2.0, "intercept": -1.0, "error": 0.5},
        "sha256": digests.of_file(folder / "adapter.safetensors"),
    }  # fmt: skip
    (folder / "card.json").write_text(json.dumps(card))
    return folder


@pytest.mark.parametrize("scale", ["raw", "human"])
@pytest.mark.parametrize("named", ["alone", "beside its base"])
def test_every_file_of_an_adapter(scale, named, adapter, tiny_bert, tmp_path):
    model = str(adapter) if named == "alone" else f"{tiny_bert}+{adapter}"
    files = Files(adapter, tmp_path / "cache", "twmd", model=model, settings=[f"scale={scale}"])
    files.hold_json(adapter / "card.json")
    assert files.moved >= (2 if scale == "human" else 1), files.moved  # slope, intercept; the layer
    weights = adapter / "adapter.safetensors"
    tensors = load_file(weights)
    for name in tensors:
        other = tmp_path / "other"
        save_file({**tensors, name: tensors[name] * 1.5}, other)
        card = json.loads((adapter / "card.json").read_text())
        kept = (adapter / "card.json").read_bytes()
        rewritten(
            adapter / "card.json", json.dumps({**card, "sha256": digests.of_file(other)}).encode()
        )
        before = files.moved
        files.hold(weights, other.read_bytes(), name)
        rewritten(adapter / "card.json", kept)
        assert files.moved == before + 1, name


STATISTICS = {
    "idf": ("twmd", ["weights=idf"]),
    "idf-each-side": ("moverscore", ["weights=idf", "weights.corpus=each-side"]),
    "mean": ("twmd", ["centre=corpus"]),
    "mean-separate": ("twmd", ["centre=corpus", "centre.sides=separate"]),
    "range": ("sentsim", []),
    "baseline": ("bertscore", ["scale=baseline"]),
    "map": ("xmoverscore", ["centre=clp"]),
    "bias": ("xmoverscore", ["centre=umd"]),
}


def fitted(name: str, settings: list[str], model: Path) -> CorpusStats:
    """Statistics of one kind, fitted on texts of the tests."""
    metric = monge.load(
        name,
        model=str(model),
        device="cpu",
        settings=[one for one in settings if "baseline" not in one],
    )
    if "scale=baseline" in settings:
        return metric.fit_baseline([*REFERENCES, *HYPOTHESES])
    if name == "xmoverscore":
        return metric.fit_maps(zip(SOURCES, REFERENCES, strict=True))
    return metric.fit(REFERENCES, hypotheses=HYPOTHESES)


@pytest.mark.parametrize("kind", STATISTICS)
def test_every_number_of_statistics(kind, tiny_bert, tmp_path):
    name, settings = STATISTICS[kind]
    stats = fitted(name, settings, tiny_bert)
    data = json.loads(json.dumps(stats.to_dict()))
    options = {"model": str(tiny_bert), "settings": settings}
    before = outcome(name, tmp_path, stats=stats, **options)
    assert not isinstance(before, MongeError), before
    member = monge.load(name, device="cpu", **options).scorer.members.get("")
    moved, signed, scored = 0, set(), dict.fromkeys(leaves(data, long=12, few=2))
    for leaf in (*scored, *(leaf for leaf in leaves(data) if leaf not in scored)):
        try:
            changed = CorpusStats.from_dict(mutated(data, leaf))
        except MongeError:
            continue
        noticed = member is not None and member.fingerprint(changed) != before[2]
        if leaf in scored:
            moved += hold(before, tmp_path, f"{kind} {leaf}", name, stats=changed, **options)[1]
            signed |= {leaf[:3]} if noticed else set()
        elif leaf[:3] in signed:  # inside a large array, of which the first and last were scored
            assert noticed, f"{kind} {leaf}"
    assert moved > 0, "no number of these statistics moves a score: the test does not reach them"


def test_the_field_of_a_kind_of_statistics_is_tried():
    kinds = {one.name for one in fields(CorpusStats)} - {"reader", "members"}
    tried = {
        "counts": "idf",
        "sums": "mean",
        "ranges": "range",
        "baselines": "baseline",
        "maps": "map",
    }
    assert kinds == tried.keys() and set(tried.values()) <= STATISTICS.keys()


# --- what else can reach a score
# ------------------------------------------------------------------------------------


def test_the_fields_of_an_identity_are_in_fingerprint_and_signature(tiny_bert):
    """Whatever field is added to the identity, another value of it must show in both, but names
    move no score.
    """
    identity = monge.load("twmd", model=str(tiny_bert), device="cpu").scorer.identity
    for one in fields(ModelIdentity):
        other = identity.__class__(
            **{**vars_of(identity), "model": changed_field(identity.model, one.name)}
        )
        assert (other.fingerprint != identity.fingerprint) == (one.name != "name"), one.name
        assert other.sign() != identity.sign() or one.name == "precision", (
            one.name
        )  # which the settings sign
    for name, value in (("stopwords", "ab" * 32), ("language_model", "/".join(["cd" * 32] * 3)),
                        ("statistics", {"idf": "ef" * 32})):  # fmt: skip
        settings = {"stopwords": ["units.stopwords=en"], "language_model": ["fluency=gpt"]}
        other = Identity(**{**vars_of(identity), name: value})
        assert other.fingerprint != identity.fingerprint, name
        if name not in settings:
            assert other.sign() != identity.sign(), name
    assert {one.name for one in fields(Identity)} == {
        "metric", "spec", "model", "reader", "stopwords", "language_model", "statistics",
    }  # fmt: skip


def vars_of(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def changed_field(value: Any, name: str) -> Any:
    return type(value)(**{**vars_of(value), name: f"{getattr(value, name)[::-1]}0"})


def test_stopword_files(tiny_bert, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("the\n")
    files = Files(
        tmp_path,
        tmp_path / "cache",
        "twmd",
        model=str(tiny_bert),
        settings=[f"units.stopwords={path}"],
    )
    files.hold(path, b"cat\n", "another word")
    files.hold(path, b"the a\n", "one more word")
    assert files.moved == 2


def test_static_vectors_edited_in_the_middle_with_their_time_kept(tmp_path):
    path = tmp_path / "vectors.txt"
    words = sorted({word for text in [*HYPOTHESES, *REFERENCES] for word in text.split()})
    filler = [f"filler{k} 0.5 0.25 0.125" for k in range(8000)]
    rows = [f"{word} {k % 3 + 1}.5 0.{k % 7} 0.{k % 5}" for k, word in enumerate(words)]
    path.write_text("\n".join([*filler[:4000], *rows, *filler[4000:]]) + "\n")
    files = Files(tmp_path, tmp_path / "cache", "wmd", model=str(path))
    changed = path.read_text().replace("\ncat ", "\nkat ", 1)
    assert len(changed) == len(path.read_text())
    files.hold(path, changed.encode(), "cat")
    assert files.moved == 1


def test_precision_device_and_references(tiny_bert, tmp_path):
    options = {"model": str(tiny_bert)}
    before = outcome("twmd", tmp_path, **options)
    assert hold(before, tmp_path, "precision", "twmd", precision="bf16", **options)[1]
    metric = monge.load("twmd", model=str(tiny_bert), device="cpu")
    single = metric.score(HYPOTHESES[:1], [REFERENCES[:1]])
    double = metric.score(HYPOTHESES[:1], [REFERENCES[:2]])
    assert single.signature["nrefs"] == "1" and double.signature["nrefs"] == "2"
    mixed = metric.score(HYPOTHESES[:2], [REFERENCES[:1], REFERENCES[:2]])
    assert mixed.signature["nrefs"] == "var"


def test_idf_corpora_of_the_members_of_a_blend(tiny_bert, tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("the cat sat\nthe dog ran\n")
    second.write_text("a cat ran\nthe house slept\nworld\n")
    name = "sentsim"
    members = list(monge.load(name, model=str(tiny_bert), device="cpu").scorer.members)
    seen = {}
    for a, b in ((first, second), (second, first), (first, first), (second, second)):
        settings = [f"{members[0]}.weights=idf", f"{members[0]}.weights.corpus={a}",
                    f"{members[1]}.weights=idf", f"{members[1]}.weights.corpus={b}"]  # fmt: skip
        after = outcome(name, model=str(tiny_bert), settings=settings)
        assert not isinstance(after, MongeError), after
        seen[after[1]] = after[0]
    assert len(seen) == 4, "two idf corpora, and signatures that do not tell them apart"


LEXICAL_OTHERS = ["yes", "no", "0", "1", "2", "3", "0.5", "char", "13a", "intl", "none", "unicode", "ascii", "floor",
                  "spaces", "drop", "keep", "wordnet", "optimal", "greedy", "add-k"]  # fmt: skip


@pytest.mark.parametrize("name", LEXICAL)
def test_lexical_options(name, tmp_path):
    before = outcome(name, tmp_path)
    tried = set()
    for option in LEXICAL[name].options:
        for value in LEXICAL_OTHERS:
            settings = [f"{option}={value}"]
            after, _ = hold(before, tmp_path, f"{name} {settings}", name, settings=settings)
            if not isinstance(after, MongeError):
                tried.add(option)
    alone = (
        {"remove"} if name == "chrf++" else set()
    )  # which goes with word_order=0 only, as chrf has it
    assert tried == set(LEXICAL[name].options) - alone, (
        "an option that accepts no other value that is tried"
    )


@pytest.mark.parametrize("library", ["sacrebleu", "rouge-score", "nltk", "monge"])
def test_versions_of_libraries_are_signed_by_the_metrics_they_compute(library, monkeypatch):
    import monge.text.lexical as lexical

    computes = {
        "sacrebleu": ["ter", "meteor", "cider"],
        "rouge-score": ["rouge1", "rougeL"],
        "nltk": ["rouge1", "meteor"],
        "monge": ["ter", "meteor", "cider"],
    }
    before = {
        name: outcome(name, settings=["stem=yes"] if "stem" in LEXICAL[name].options else [])[1]
        for name in LEXICAL
    }
    real = lexical.version
    monkeypatch.setattr(lexical, "version", lambda name: "99.9" if name == library else real(name))
    for name in computes[library]:
        settings = ["stem=yes"] if "stem" in LEXICAL[name].options else []
        assert outcome(name, settings=settings)[1] != before[name], name


def test_the_code_is_in_every_cache_key(tiny_bert, tmp_path, monkeypatch):
    """Whoever changes a formula does not get the number of the old one from a cache."""
    from monge.cache import code
    from monge.encoders import batching
    from monge.scoring import score_cache

    metric = monge.load("twmd", model=str(tiny_bert), device="cpu", cache=tmp_path)
    assert metric.score(HYPOTHESES, REFERENCES).work["encoded"] > 0
    assert metric.score(HYPOTHESES, REFERENCES).work["encoded"] == 0
    for module in (batching, score_cache):
        monkeypatch.setattr(module, "code_digest", lambda: "another")
    assert metric.score(HYPOTHESES, REFERENCES).work["encoded"] > 0
    before = code.code_digest.__wrapped__()
    real = code._sources

    def edited(folder: Any, path: str) -> Any:
        return [
            (name, data + b"#" if name.endswith("tempered.py") else data)
            for name, data in real(folder, path)
        ]

    monkeypatch.setattr(code, "_sources", edited)
    assert code.code_digest.__wrapped__() != before
