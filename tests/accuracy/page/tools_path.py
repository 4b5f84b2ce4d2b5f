"""Lets the tests import what they test."""

import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools" / "accuracy"
sys.path.insert(0, str(TOOLS))
