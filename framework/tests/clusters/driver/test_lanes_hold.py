"""Whatever servers and proxies do, no call is lost and every answer is right."""

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.outbound import Lane, Lost, Outcome, Reply, Request
from tests.kit.roads import LOST, LaneRig, Sent, refusal_of

FATES = ("answered", "lost", "cut before", "500", "429", "not sent", "duplicated")
"""Fates of a request; in all but two, a write may succeed without an answer."""


class Server:
    """Records the calls that took effect for each pod, in order."""

    def __init__(self) -> None:
        self.effects: dict[str, list[int]] = {}
        self.bound: set[str] = set()

    def meet(self, request: Request, fate: str) -> Outcome:
        """Return the outcome of a request with a fate."""
        if fate == "not sent":
            return Lost("closed", is_sent=False)
        if fate == "cut before":
            return LOST
        outcome = self.take(request)
        if fate == "duplicated":
            outcome = self.take(request)
        outcomes: dict[str, Outcome] = {
            "lost": LOST,
            "500": refusal_of(500),
            "429": refusal_of(429),
        }
        return outcomes.get(fate, outcome)

    def take(self, request: Request) -> Reply:
        if request.lane is Lane.BIND:
            if request.key in self.bound:
                return refusal_of(409, "Conflict")
            self.bound.add(request.key)
        self.effects.setdefault(request.key, []).append(request.call)
        return Reply(200)


@given(st.data())
def test_order_holds_and_answers_are_true(data: st.DataObject) -> None:
    rig, server = LaneRig(room=data.draw(st.integers(1, 3))), Server()
    binds: dict[str, int] = {}
    patches: dict[str, list[int]] = {"a": [], "b": []}
    for _ in range(data.draw(st.integers(1, 25))):
        step = data.draw(st.sampled_from(["patch", "bind", "meet", "meet", "wait"]))
        pod = data.draw(st.sampled_from("ab"))
        if step == "patch" and pod not in binds:
            call = rig.ask(Lane.STATUS, "PATCH", key=pod, may_repeat=True)
            patches[pod].append(call)
        elif step == "bind" and pod not in binds:
            binds[pod] = rig.ask(Lane.BIND, key=pod)
        elif step == "wait":
            rig.wait(data.draw(st.sampled_from([0.3, 1.0, 5.0])))
        elif step == "meet" and rig.sent:
            sent = rig.sent.pop(data.draw(st.integers(0, len(rig.sent) - 1)))
            meet(rig, server, sent, data.draw(st.sampled_from(FATES)))
    while not rig.lanes.is_empty:
        if rig.sent:
            meet(rig, server, rig.sent.pop(0), "answered")
        else:
            rig.wait(1.0)
    check_answers(rig, server, binds, patches)


def meet(rig: LaneRig, server: Server, sent: Sent, fate: str) -> None:
    sent.answer(server.meet(sent.request, fate))
    rig.lanes.pump()


def check_answers(
    rig: LaneRig,
    server: Server,
    binds: dict[str, int],
    patches: dict[str, list[int]],
) -> None:
    answers = {answer.call: answer for answer in rig.answers}
    numbers = [*binds.values(), *patches["a"], *patches["b"]]
    assert sorted(answer.call for answer in rig.answers) == sorted(numbers)
    for pod, call in binds.items():
        is_bound, answer = pod in server.bound, answers[call]
        if not answer.is_in_doubt:  # else the pod is read
            assert is_bound == (not answer.why)
    for pod, calls in patches.items():
        effects = server.effects.get(pod, [])
        assert effects == sorted(effects)  # a bind comes after its pod's patches
        if pod not in binds and calls and not answers[calls[-1]].why:
            assert effects[-1] == calls[-1]
