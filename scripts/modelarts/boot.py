"""Boot file of a ModelArts training job: `python scripts/modelarts/boot.py --config configs/...` (docs/scaling.md)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from atrl_ms.launch.modelarts import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
