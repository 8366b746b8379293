"""`plaudit watch`."""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal

from plaudit.cli.arguments import fail
from plaudit.reports.watch import WatchedRun, address_of, runs_of, server_of
from plaudit.serve import LOOPBACK, listen

FAILED, WRONG = 1, 2
EVERY = 2.0  # seconds between two looks at a run that is not shown


def run(
    directories: Annotated[Sequence[Path], "DIR"],
    *,
    host: Annotated[str, "A"] = "127.0.0.1",
    port: int = 8951,
    fail_on: Literal["alarm"] | None = None,
) -> int:
    """Follow a run that is being recorded (plaudit.record, or PLAUDIT_RECORD=DIR), or open one that
    is over: curves over the steps, the rows of a step with their reasons, and what looks wrong, in
    words. With several folders, the runs side by side. The page is for this machine alone, unless
    --host says otherwise.

    directories: a recorded run, or the output folder of plaudit train; several to compare
    host: address to listen on; default: %(default)s
    port: port to listen on, 0 for any that is free; default: %(default)s
    fail_on: show no page; exit with 1 as soon as an alarm holds, and with 0 once nothing records
        into the folders and none does

    examples:
      plaudit watch runs/1
      plaudit watch runs/1 runs/2 runs/3 --port 9000
      plaudit watch runs/1 --fail-on alarm     # no page: wait for an alarm, or the end of the run

    exit codes:
      0 done    1 an alarm holds, with --fail-on alarm    2 wrong usage or nothing to read
    """
    try:
        runs = runs_of(directories)
        for one in runs:
            one.refresh()
        if fail_on:
            return _wait_for_alarm(runs)
        listener = listen(host, port)
    except (ValueError, OSError) as error:
        return fail(WRONG, error)
    except KeyboardInterrupt:
        return 0
    address = listener.getsockname()[0]
    is_local = ip_address(address).is_loopback
    if not is_local:
        print(f"plaudit: anyone who reaches {address} can read these runs", file=sys.stderr)
    print(f"plaudit: watching on {address_of(listener)} (Ctrl-C ends it)", flush=True)
    with suppress(KeyboardInterrupt):  # uvicorn raises it once more when it is done
        server_of(runs, [*LOOPBACK, host, address] if is_local else None).run([listener])
    return 0


def _wait_for_alarm(runs: Sequence[WatchedRun]) -> int:
    """Wait until an alarm holds or no run goes on; print the alarms, and return the exit code."""
    while True:
        is_live = [one.is_live for one in runs]  # before the last look, so that it misses nothing
        for one in runs:
            one.refresh()
        held = [(one, alarm) for one in runs for alarm in one.alarms if not alarm.is_over]
        if held or not any(is_live):
            break
        time.sleep(EVERY)
    for one in runs:
        if not one.version:
            raise ValueError(f"nothing is recorded in {one.name}")
    for one, alarm in held:
        print(f"{one.name}: {alarm.kind}, since step {alarm.first}: {alarm.text}")
    if not held:
        print("There is no alarm.")
    return FAILED if held else 0
