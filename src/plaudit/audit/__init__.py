"""A recipe and rows in; out come its holes: what pays without being right, and how much."""
from plaudit.audit._engine import Options, audit_table
from plaudit.audit._table import sampled
