"""What the tests that kill servers share: work until the kill, and a look at what it left."""

import threading
import time

import stator_process
from fast_client import ServerGone


def work_until_killed(server, jobs, seconds):
    """Runs each job (`run(port)`, until the server is gone) on a thread, and kills the server."""
    failures = []

    def guarded(job):
        try:
            job.run(server.port)
        except ServerGone:
            pass
        except BaseException as error:  # Reported by the thread that waits.
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    server.kill()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def assert_whole(directory, program):
    """`stator check` finds nothing."""
    result = stator_process.check(directory, program)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith(": no problems\n"), result.stdout
