"""Verifiable rewards for post-training with reinforcement learning."""

__version__ = "0.1.0"
