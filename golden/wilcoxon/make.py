# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "scipy==1.17.1"]
# ///
"""Makes paired differences and SciPy's statistics of them (see README.md)."""

import json
from pathlib import Path

import numpy as np
from scipy import stats

SEED = 20261116
HERE = Path(__file__).parent


def case(name, differences, method, correction=False):
    d = np.asarray(differences, dtype=float)
    test = stats.wilcoxon(d, zero_method="wilcox", method=method, correction=correction)
    nonzero = d[d != 0]
    ranks = stats.rankdata(np.abs(nonzero))
    plus, minus = ranks[nonzero > 0].sum(), ranks[nonzero < 0].sum()
    assert test.statistic == min(plus, minus)
    interval = stats.bootstrap((d,), np.mean, n_resamples=20_000, method="percentile", rng=SEED).confidence_interval
    return {
        "name": name,
        "differences": d.tolist(),
        "exact": not correction,
        "statistic": test.statistic,
        "p": test.pvalue,
        "rank_biserial": (plus - minus) / (plus + minus),
        "median": float(np.median(d)),
        "cohen_dz": d.mean() / d.std(ddof=1),
        "bootstrap": [interval.low, interval.high],
    }


def main():
    rng = np.random.default_rng(SEED)
    # The permutation test tries every pattern of signs, so it is exact with any ties.
    every = lambda n: stats.PermutationMethod(n_resamples=2**n, batch=2**14)
    cases = [case(f"no ties, {n}", rng.normal(0.3, 1, n), "exact") for n in (2, 3, 6, 10, 25, 50)]
    cases.append(case("all positive, 10", np.abs(rng.normal(0, 1, 10)), "exact"))
    for n in (5, 8, 11, 14):
        # Rounding to quarters makes ties and zeros.
        d = np.round(rng.normal(0.3, 0.6, n) * 4) / 4
        cases.append(case(f"ties and zeros, {n}", d, every(n)))
    cases.append(case("all tied, 9", [0.5] * 6 + [-0.5] * 3, every(9)))
    cases += [case(f"no ties, {n}", rng.normal(0.1, 1, n), "asymptotic", True) for n in (51, 106)]
    cases.append(case("ties, 200", np.round(rng.normal(0.2, 2, 200)) + 0.5, "asymptotic", True))
    (HERE / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


main()
