"""Figures of studies (extra `plots`; matplotlib is imported when a figure is drawn)."""

from monge.report.canvas import check_figures
from monge.report.evaluation import evaluation_figures
from monge.report.sweep import sweep_figure

__all__ = ["check_figures", "evaluation_figures", "sweep_figure"]
