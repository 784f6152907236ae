"""How long a protocol takes with scores given: 30 metrics on the six tasks of WMT24.

The data are synthetic, in the layout of mt-metrics-eval and of the size of WMT24. Usage:

    python benchmarks/protocol.py [--metrics 30] [--systems 18] [--items 700] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from synthetic_wmt import make_wmt24

from monge.evaluation.protocol import load_protocol
from monge.evaluation.protocol_run import ProtocolMetrics, run_protocol
from monge.evaluation.protocol_tasks import ProtocolTests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", type=int, default=30)
    parser.add_argument("--systems", type=int, default=18)
    parser.add_argument("--items", type=int, default=700)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    qualities = {f"metric{k:02d}": k / options.metrics for k in range(options.metrics)}
    with tempfile.TemporaryDirectory() as folder:
        data = make_wmt24(Path(folder), qualities, systems=options.systems, items=options.items)
        record = {**vars(options), "seconds": {}}
        del record["json"]
        for name, resamples in (("values only", 0), ("with tests", 1000)):
            start = time.perf_counter()
            run_protocol(
                load_protocol("wmt24"),
                data,
                ProtocolMetrics(stored=["*"], sentinels=False),
                tests=ProtocolTests(resamples),
            )
            record["seconds"][name] = round(time.perf_counter() - start, 1)
    print(json.dumps(record, indent=1))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
