"""The reward functions of CANOE, VLM-R1 and TRL, one module a system."""
