"""Figures of studies (extra `plots`; matplotlib is imported when a figure is drawn)."""

from monge.report.canvas import check_figures
from monge.report.curves import sweep_figure
from monge.report.evaluation import evaluation_figures

__all__ = ["check_figures", "evaluation_figures", "sweep_figure"]
