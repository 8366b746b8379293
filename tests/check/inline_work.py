"""Work on chunks in this process, without workers: most tests are about what is found."""

import pickle


def inline(chunks, plan, work, workers, **hints):
    """What `plaudit.tables.process_locally` gives, with all that passes between processes pickled.

    There is no conftest.py here, since pytest reads this folder before tests/conftest.py.
    """
    plan = pickle.loads(pickle.dumps(plan))
    for chunk in chunks:
        yield pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(chunk)), plan)))


def check_here(monkeypatch):
    """Have every check of a test work in this process."""
    monkeypatch.setattr("plaudit.reports.check._check.process_locally", inline)
