"""`monge recommend`: which metric to take, from kept agreement with people and kept cost."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any

from monge.cli import option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import check_output, write_study
from monge.types.table import STUDY_FORMATS


@dataclass(frozen=True)
class RecommendationOptions:
    """Options for the question: the texts, their language, and what may be spent."""

    task: Annotated[
        str | None,
        option(
            "--task NAME",
            help="What the texts are: translation, summaries, captions, data-to-text, similarity "
            "(two sentences that mean the same), or quality-estimation (translations without "
            "references); all of them by default.",
        ),
    ] = None
    lang: Annotated[str, option("--lang CODE", help="The language of the texts.")] = "en"
    budget: Annotated[
        str | None,
        option(
            "--budget 5s,800MB",
            help="The most to spend: seconds for 1,000 pairs on one thread, memory, or both.",
        ),
    ] = None
    figure: Annotated[
        str | None,
        option(
            "--figure FILE.svg|.png",
            options.OUTPUT,
            help="Draw agreement against cost into this file, one panel per task.",
        ),
    ] = None


@option_groups.flatten_options
def recommend(
    *,
    question: RecommendationOptions,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    signature_form: options.SignatureForm = "short",
) -> None:
    """Recommend metrics, from results kept in this package."""
    check_output(output_format, STUDY_FORMATS, output)
    signed = options.signed(signature_form)
    figure_path = studies.check_figure(question.figure)
    from monge.recommendation.recommend import Overview
    from monge.recommendation.recommend import recommend as recommended

    recommendation = recommended(question.task, lang=question.lang, budget=question.budget)
    recommendations = (
        recommendation.every if isinstance(recommendation, Overview) else (recommendation,)
    )
    plots = []
    if output_format == "html":
        from monge.report.recommendation import cost_plots

        plots = cost_plots(recommendations)
    title, monge = f"Which metric for {question.task or 'which task'}?", version("monge")
    layout: dict[str, Any] = {"title": title, "signed": signed, "figures": plots}
    write_study(recommendation, output_format, output, version=monge, **layout)
    if figure_path is not None:
        from monge.report.recommendation import cost_figure

        cost_figure(recommendations, figure_path)
