"""Made-up runs are a module of their own, which the browser's tests use too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
