"""A system clock for a server under test, which a test can set: preload/moving_clock.c."""

import struct
import time

import stator_process


class MovingClock:
    def __init__(self, path):
        self.path = path
        self.ahead = 0
        self.passed = 0
        self.jump(0)

    def jump(self, seconds):
        """The system's clock is set."""
        self.ahead += seconds
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("=qq", self.ahead, self.passed))

    def pass_time(self, seconds):
        """So much time passes, by all clocks."""
        self.passed += seconds
        self.jump(seconds)

    def now(self):
        return time.time() + self.ahead

    def variables(self):
        return {
            "LD_PRELOAD": stator_process.preload("moving_clock"),
            "MOVING_CLOCK_FILE": str(self.path),
        }
