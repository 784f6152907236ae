"""Models of requests and answers: the source of the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from monge import api

HYPOTHESIS = "The cat slept on the warm mat."
REFERENCE = "A cat was sleeping on the mat."
SIGNATURES = tuple(
    f"metric:{name}|options:char_order=6,word_order={words},beta=2,lowercase=no,whitespace=no,eps_smoothing=no,remove=whitespace|lib:sacrebleu|nrefs:1|case:mixed|eff:yes|nc:6|nw:{words}|space:no|version:2.6.0|monge:0.1.0"
    for name, words in (("chrf", 0), ("chrf++", 2))
)
Name = Annotated[str, Field(max_length=2000)]
Texts = Annotated[list[str], Field(fail_fast=True)]
"""A list that is validated up to its first fault, so that a long list of faults costs no more than
a short one.
"""
ListsOfTexts = Annotated[list[Texts], Field(fail_fast=True)]
Names = Annotated[list[Name], Field(fail_fast=True)]
MOST_SETTINGS = 64
Settings = Annotated[
    Annotated[Names, Field(max_length=MOST_SETTINGS)]
    | Annotated[dict[str, str | int | float | bool], Field(max_length=MOST_SETTINGS)],
    Field(description="AXIS=VALUE or AXIS.FIELD=VALUE, as for --set; or an object of them."),
]
Metrics = Annotated[
    Names, Field(min_length=1, description="NAME, NAME@PROFILE or NAME[axis.field=value].")
]
TextsOfReferences = Annotated[
    str | Texts | ListsOfTexts | None,
    Field(description="One text, one a hypothesis, or a list of texts a hypothesis."),
]
Sources = Annotated[
    str | Texts | None,
    Field(description="Source texts; without references they stand in their place."),
]


class MetricRequest(BaseModel):
    """What every request about metrics may say: settings, language, model, statistics."""

    model_config = ConfigDict(extra="forbid", strict=True)

    settings: Settings = []
    lang: Name | None = Field(None, description="Target language: en, de, zh …")
    model: Name | None = Field(None, description="One of the models this service was started with.")
    statistics: Names = Field([], description="Ids that POST /v1/stats gave.", max_length=8)


class ScoreRequest(MetricRequest):
    """Texts to score, and how."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "hypotheses": [HYPOTHESIS],
                    "references": [REFERENCE],
                    "metrics": ["monge", "bertscore"],
                },
                {
                    "hypotheses": {"a": [HYPOTHESIS], "b": ["It rains."]},
                    "references": [[REFERENCE, "The cat slept."]],
                    "metrics": ["twmd[transport.temperature=0.05]"],
                    "segments": True,
                },
            ]
        }
    )

    hypotheses: str | Texts | dict[str, Texts] = Field(
        description="One text, a list of texts, or lists by the name of their system."
    )
    references: TextsOfReferences = None
    sources: Sources = None
    metrics: Metrics = [api.DEFAULT_METRIC]
    segments: bool = Field(False, description="With the scores of every segment.")
    intervals: bool = Field(False, description="With a bootstrap interval of each score.")
    seed: int = Field(12345, ge=0, le=2**32 - 1, description="Of the bootstrap.")
    signatures: list[Annotated[str, Field(max_length=8000)]] = Field(
        [], description="Replay these instead of naming metrics.", fail_fast=True
    )
    refit: bool = Field(False, description="With signatures: accept statistics of other texts.")

    def as_lists(self) -> tuple[dict[str, list[str]], Any, list[str] | None]:
        """Return hypotheses by system, references and sources as lists."""
        hypotheses, references = self.hypotheses, self.references
        systems = (
            hypotheses
            if isinstance(hypotheses, dict)
            else {"": [hypotheses] if isinstance(hypotheses, str) else hypotheses}
        )
        sources = [self.sources] if isinstance(self.sources, str) else self.sources
        if not isinstance(hypotheses, str):
            return systems, references, sources
        if isinstance(references, str):
            return systems, [references], sources
        several = (
            isinstance(references, list)
            and len(references) > 1
            and all(isinstance(r, str) for r in references)
        )
        return systems, [references] if several else references, sources


class ExplainRequest(MetricRequest):
    """One pair to explain."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"hypothesis": HYPOTHESIS, "reference": REFERENCE, "metric": "monge"}],
        }
    )

    hypothesis: str
    reference: str
    metric: Name = api.DEFAULT_METRIC
    whole: bool = Field(
        False, description="With every cost and mass, for texts that are not very long."
    )


class CompareRequest(MetricRequest):
    """Systems to compare on the same items."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "systems": {"a": [HYPOTHESIS, "It rains."], "b": ["A cat.", "It is raining."]},
                    "references": [REFERENCE, "It is raining."],
                    "metrics": ["monge"],
                }
            ]
        }
    )

    systems: dict[str, Texts]
    references: Texts | ListsOfTexts | None = None
    sources: Texts | None = None
    metrics: Metrics = [api.DEFAULT_METRIC]
    test: str = Field(
        "auto",
        description="auto, bootstrap or permutation: whose p-values make the clusters; auto is "
        "permutation for fewer than 30 segments.",
    )
    resamples: int = Field(1000, ge=1)
    confidence: float = Field(0.95, gt=0, lt=1)
    alpha: float = Field(0.05, gt=0, lt=1)
    seed: int = Field(12345, ge=0, le=2**32 - 1)


class FitRequest(BaseModel):
    """Texts to fit corpus statistics from."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "references": [REFERENCE, "It is raining.", "The dog ran home."],
                    "metric": "moverscore",
                }
            ]
        },
    )

    references: Texts | ListsOfTexts = []
    hypotheses: Texts = []
    metric: Name = "moverscore"
    settings: Settings = []
    lang: Name | None = None
    model: Name | None = None


class SignatureRequest(BaseModel):
    """A signature."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"signature": SIGNATURES[0]}]}
    )

    signature: Annotated[str, Field(max_length=8000)]


class DiffRequest(BaseModel):
    """Two signatures."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"one": SIGNATURES[0], "other": SIGNATURES[1]}]},
    )

    one: Annotated[str, Field(max_length=8000)]
    other: Annotated[str, Field(max_length=8000)]


class Refused(BaseModel):
    """Every answer that is not what was asked for."""

    error: str = Field(description="What is wrong, what was received, what is accepted.")
    error_type: str = Field(description="A word for programs.")
    limit: int | None = Field(description="The limit that was met, if one was.")
    hint: str = Field(description="A way out.")


class SegmentScore(BaseModel):
    """The score of a segment; `best_reference` counts from 1, null where several decided."""

    id: str
    score: float
    parts: dict[str, float]
    best_reference: int | None
    flags: list[str]


class ScoreInterval(BaseModel):
    """A bootstrap interval."""

    low: float
    high: float


class SystemResult(BaseModel):
    """The scores of one system by one metric."""

    metric: str
    system: str
    score: float
    higher_is_better: bool
    n: int
    parts: dict[str, float]
    signature: str
    run: dict[str, Any]
    interval: ScoreInterval | None = None
    segments: list[SegmentScore] | None = None


class ScoreResponse(BaseModel):
    """What `monge score --format json` prints."""

    monge: str
    schema_version: int = Field(alias="schema", description="Version of this form.")
    results: list[SystemResult]


class Fitted(BaseModel):
    """Statistics that are kept under an id, the digest of what they hold."""

    id: str
    metric: str
    holds: list[str]


class JobState(BaseModel):
    """A job: how far it has come, and where its result will be."""

    id: str
    state: str = Field(description="queued, running, done, failed or cancelled.")
    done: int
    total: int
    remaining_seconds: float | None
    phase: str | None = Field(
        description="Of one that runs: scoring, comparing, explaining or writing."
    )
    compared: int = Field(description="Metrics by which its systems have been compared.")
    explained: list[int] = Field(
        description="Plans that its report has, and how many it will have."
    )
    metrics: list[str]
    systems: list[str]
    names: list[str] = Field(
        description="The systems as people read them: without the endings of files."
    )
    created: float
    error: Refused | None
