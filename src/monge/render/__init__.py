"""Results, explanations and tables as strings: pure functions, no files, torch or plots."""

from monge.render.explanation import explanation_json, explanation_text, render_explanation
from monge.render.explanation_page import explanation_fragment, explanation_html
from monge.render.explanations import render_explanations
from monge.render.heatmap import explanation_svg
from monge.render.result_records import results_json, results_jsonl, results_tsv
from monge.render.results import (
    FORMATS,
    View,
    render_results,
    results_html,
    results_latex,
    results_markdown,
    results_text,
)
from monge.types.explanation import EXPLANATION_FORMATS

__all__ = [
    "EXPLANATION_FORMATS", "FORMATS", "View", "explanation_fragment", "explanation_html",
    "explanation_json",
    "explanation_svg", "explanation_text", "render_explanation", "render_explanations",
    "render_results",
    "results_html", "results_json", "results_jsonl", "results_latex", "results_markdown",
    "results_text", "results_tsv",
]  # fmt: skip
