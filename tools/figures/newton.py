"""Newton iterations a solve over a whole run by implicit steps: python tools/figures/newton.py STORE (needs pyarrow)"""

import json
import sys
from pathlib import Path

import pyarrow.parquet as parquet


def main():
    last = sorted((Path(sys.argv[1]) / "history").glob("*.parquet"))[-1]
    row = parquet.read_table(last, columns=["newton", "solves"]).to_pylist()[-1]
    print(json.dumps(row | {"iterations": row["newton"] / row["solves"]}))


if __name__ == "__main__":
    main()
