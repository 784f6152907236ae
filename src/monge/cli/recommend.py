"""`monge recommend`: which metric to take, from kept agreement with people and kept cost."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

from monge.cli import options, studies
from monge.cli.options import option
from monge.cli.printing import check_output, coloured, emit, terminal_width
from monge.types.table import STUDY_FORMATS


def recommend(
    *,
    task: Annotated[
        str | None,
        option(
            "--task NAME",
            help="What the texts are: translation, summaries, captions, data-to-text, similarity "
            "(two sentences that mean the same), or quality-estimation (translations without "
            "references); all of them by default.",
        ),
    ] = None,
    lang: Annotated[str, option("--lang CODE", help="The language of the texts.")] = "en",
    budget: Annotated[
        str | None,
        option(
            "--budget 5s,800MB",
            help="The most to spend: seconds for 1,000 pairs on one thread, memory, or both.",
        ),
    ] = None,
    figure: Annotated[
        str | None,
        option(
            "--figure FILE.svg|.png",
            options.OUTPUT,
            help="Draw agreement against cost into this file, a panel a task.",
        ),
    ] = None,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    signature_form: options.SignatureForm = "short",
) -> None:
    """Say which metric to take: agreement with people and cost, from results kept in this
    package.
    """
    check_output(output_format, STUDY_FORMATS, output)
    signed = options.signed(signature_form)
    figure_path = studies.check_figure(figure)
    from monge.recommendation.recommend import Overview
    from monge.recommendation.recommend import recommend as recommended
    from monge.render.table import render_study

    recommendation = recommended(task, lang=lang, budget=budget)
    recommendations = (
        recommendation.every if isinstance(recommendation, Overview) else (recommendation,)
    )
    plots = []
    if output_format == "html":
        from monge.report.recommendation import cost_plots

        plots = cost_plots(recommendations)
    layout: dict[str, Any] = {
        "colour": coloured(output),
        "signed": signed,
        "width": terminal_width(output),
    }
    title = f"Which metric for {task or 'which task'}?"
    emit(
        render_study(
            recommendation,
            output_format,
            version=version("monge"),
            title=title,
            figures=plots,
            **layout,
        ),
        output,
    )
    if figure_path is not None:
        from monge.report.recommendation import cost_figure

        cost_figure(recommendations, figure_path)
