"""WPILib's simulated robot, with the socket that a driver station talks to: prints what robot code sees, a line of JSON
for each change. The first line says that it listens."""

import json
import sys
import time

import hal
import halsim_ds_socket
from wpilib import DriverStation, Joystick
from wpilib.interfaces import GenericHID

STICKS = 3


def stick(port):
    return {
        "axes": [round(DriverStation.getStickAxis(port, i), 4) for i in range(DriverStation.getStickAxisCount(port))],
        "buttons": DriverStation.getStickButtons(port),
        "count": DriverStation.getStickButtonCount(port),
        "povs": [int(DriverStation.getStickPOV(port, i)) for i in range(DriverStation.getStickPOVCount(port))],
        "name": DriverStation.getJoystickName(port),
    }


def seen():
    return {
        "attached": DriverStation.isDSAttached(),
        "fms": DriverStation.isFMSAttached(),
        "enabled": DriverStation.isEnabled(),
        "mode": "auto" if DriverStation.isAutonomous() else "test" if DriverStation.isTest() else "teleop",
        "estop": DriverStation.isEStopped(),
        "alliance": {0: "red", 1: "blue"}.get(getattr(DriverStation.getAlliance(), "value", None)),
        "location": DriverStation.getLocation(),
        "event": DriverStation.getEventName(),
        "match": [DriverStation.getMatchType().name, DriverStation.getMatchNumber(), DriverStation.getReplayNumber()],
        "game": DriverStation.getGameSpecificMessage(),
        "sticks": [stick(port) for port in range(STICKS)],
    }


def main(seconds):
    assert hal.initialize(500, 0), "the HAL does not start"
    halsim_ds_socket.loadExtension()
    hal.observeUserProgramStarting()
    rumbling = Joystick(1)
    end, last = time.monotonic() + seconds, None
    print(json.dumps({"ready": True}), flush=True)
    while time.monotonic() < end:
        DriverStation.refreshData()
        now = seen()
        if now != last:
            print(json.dumps(now), flush=True)
            last = now
            # What the robot wants of a stick goes back to the station.
            rumbling.setOutputs(5 if now["enabled"] else 0)
            rumbling.setRumble(GenericHID.RumbleType.kLeftRumble, 0.25 if now["enabled"] else 0)
            rumbling.setRumble(GenericHID.RumbleType.kRightRumble, 1.0 if now["enabled"] else 0)
        # It is the loop of a robot program, which looks at the station every few milliseconds.
        time.sleep(0.002)


if __name__ == "__main__":
    main(float(sys.argv[1]))
