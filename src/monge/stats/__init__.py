"""Statistics on arrays: agreement with humans, significance, dispersion; no scipy.stats."""

from monge.stats.averaged import group_values
from monge.stats.bootstrap import (
    Interval,
    OfCounts,
    OfSums,
    bootstrap_means,
    interval_of,
    of_counts,
    percentiles,
    resampled_scores,
)
from monge.stats.checks import RESAMPLES, SEED, UndefinedError
from monge.stats.correlation import (
    STATISTICS,
    Statistic,
    higher_is_better,
    mae100,
    pearson,
    rmse100,
    spearman,
    within,
)
from monge.stats.dispersion import VarianceShares, cv, rd, spread, variance_shares
from monge.stats.multiple import PairwiseTests, clusters, holm, max_t, pairwise_tests, pooled_tests
from monge.stats.pairs import (
    PairCounts,
    TieCalibration,
    calibrate_ties,
    pair_counts,
    ranking_outcomes,
    ranking_tau,
)
from monge.stats.resampling import resample_counts
from monge.stats.significance import (
    PermutationTest,
    WilliamsTest,
    mcnemar,
    perm_both,
    williams,
    williams_scores,
)
from monge.stats.systems import (
    better_than,
    compare_certainty,
    order_agreement,
    pair_mean,
    soft_agreement,
)

__all__ = [
    "RESAMPLES",
    "SEED",
    "STATISTICS",
    "Interval",
    "OfCounts",
    "OfSums",
    "PairCounts",
    "PairwiseTests",
    "PermutationTest",
    "Statistic",
    "TieCalibration",
    "UndefinedError",
    "VarianceShares",
    "WilliamsTest",
    "better_than",
    "bootstrap_means",
    "calibrate_ties",
    "clusters",
    "compare_certainty",
    "cv",
    "group_values",
    "higher_is_better",
    "holm",
    "interval_of",
    "mae100",
    "max_t", "mcnemar",
    "of_counts",
    "order_agreement",
    "pair_counts",
    "pair_mean",
    "pairwise_tests",
    "pearson",
    "percentiles",
    "perm_both",
    "pooled_tests",
    "ranking_outcomes",
    "ranking_tau",
    "rd",
    "resample_counts",
    "resampled_scores",
    "rmse100",
    "soft_agreement",
    "spearman",
    "spread",
    "variance_shares",
    "williams",
    "williams_scores",
    "within",
]  # fmt: skip
