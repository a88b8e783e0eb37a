"""The cycle states of a recorded case, by number."""

from quaymaster._authors.testing.recorded.case import CallNotPlayedError, Json
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["RecordedStates"]


class RecordedStates:
    """The states that the calls of a case share."""

    def __init__(self) -> None:
        self._states: dict[int, CycleState] = {}
        self._foreign: set[int] = set()

    def state_of(self, call: Json) -> CycleState:
        """Return the state of a call; a new one if the call has none.

        Raises:
            CallNotPlayedError: The test itself has written values of Go into it.
        """
        number = call.get("state")
        if "given" in call:
            self._foreign.add(number if number is not None else -1)
            raise CallNotPlayedError("the test writes Go's types into the state")
        if number is None:
            return CycleState()
        if number in self._foreign:
            raise CallNotPlayedError("the test writes Go's types into the state")
        if number not in self._states:
            original = self._states.get(call.get("clone_of", -1))
            self._states[number] = original.clone() if original else CycleState()
        return self._states[number]
