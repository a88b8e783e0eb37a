"""Compiles checked trees to functions.

Each node becomes a function of a frame. Errors are exceptions; only ``&&``, ``||``,
their loops and bindings catch them.

Mirrors ``interpreter/planner.go``, ``interpreter/interpretable.go`` and
``interpreter/decorators.go`` (cel-go v0.26.0). A metered program counts the cost as
upstream does, and ends when it exceeds the limit.
"""

from collections.abc import Sequence
from typing import Final

from kubernetes_cel.ast import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    UintLiteral,
)
from kubernetes_cel.branches import alternative, condition, logic
from kubernetes_cel.calls import make_call
from kubernetes_cel.checker import Checked, Environment
from kubernetes_cel.declarations import Overload
from kubernetes_cel.dispatch import dispatcher
from kubernetes_cel.equality import surely_equal
from kubernetes_cel.errors import (
    CelCompilationError,
    CelEvaluationError,
)
from kubernetes_cel.frames import (
    COST,
    FIRST,
    NO_FRAME,
    Constant,
    Evaluate,
    Frame,
    Unbound,
)
from kubernetes_cel.lexer import place_of
from kubernetes_cel.libraries.conversions import CONVERSIONS
from kubernetes_cel.libraries.regexes import PATTERN_ARGUMENTS, prepared
from kubernetes_cel.literal_collections import list_of, map_of
from kubernetes_cel.lookups import (
    begun,
    by_key,
    is_present,
    native,
    step,
    unchanged,
    usable,
)
from kubernetes_cel.loops import Step, collect, count, quantify
from kubernetes_cel.metering import LIST_COST, MAP_COST, Meter
from kubernetes_cel.values import (
    Optional,
    TypeValue,
    Uint,
    Value,
)

__all__ = ["Program", "make_program"]


class Program:
    """A compiled expression, as a function of the declared variables."""

    __slots__ = ("_evaluate", "_locals")

    def __init__(self, evaluate: Evaluate, locals_: int) -> None:
        self._evaluate = evaluate
        # Made once, and copied by each call: most evaluations have no locals at all.
        self._locals: Frame = [None] * locals_

    def __call__(self, *values: Value) -> Value:
        """Evaluate the expression with the values of the declared variables, in order.

        Raises:
            CelEvaluationError: The expression has no value.
        """
        return self._evaluate([0, *values, *self._locals])

    def metered(self, *values: Value) -> tuple[Value, int]:
        """Evaluate a metered program; return its value or its error, and the cost."""
        frame: Frame = [0, *values, *self._locals]
        try:
            return self._evaluate(frame), frame[COST]
        except CelEvaluationError as error:
            return error, frame[COST]


def make_program(
    checked: Checked, environment: Environment, meter: Meter | None = None
) -> Program:
    """Compile a checked tree.

    Args:
        checked: The tree.
        environment: The environment in which the tree was checked.
        meter: The meter of costs; None if costs are not counted.

    Raises:
        CelCompilationError: A constant cannot be converted, or is not a regular
            expression.
    """
    maker = _Maker(checked, environment, meter)
    evaluate = maker.make(checked.root)
    return Program(evaluate, maker.size - FIRST - len(environment.inputs))


class _Maker:
    """Compiles the nodes of one tree."""

    def __init__(
        self, checked: Checked, environment: Environment, meter: Meter | None
    ) -> None:
        self._checked = checked
        self._meter = meter
        self._convert = native if environment.converts_optionals else unchanged
        inputs = environment.inputs
        # A list for each name: an inner loop may hide a variable of an outer one.
        self._places = {name: [place] for place, name in enumerate(inputs, FIRST)}
        self._bound: set[int] = set()
        self.size = FIRST + len(inputs)

    def make(self, node: Expression) -> Evaluate:
        match node:
            case Literal():
                return Constant(_value_of(node))
            case Identifier():
                return self._identifier(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._loop(node)
            case _:
                raise AssertionError(node)

    # Metering.

    def _paid(self, evaluate: Evaluate, cost: int = 1) -> Evaluate:
        """Add a cost to a node if the program is metered."""
        return evaluate if self._meter is None else self._meter.paid(evaluate, cost)

    # Names and fields.

    def _identifier(self, node: Identifier, *, last: bool = True) -> Evaluate:
        places = self._places.get(node.name)
        # Names without a value are types, such as ``int``: the checker has rejected all
        # others.
        if not places:
            return Constant(TypeValue(node.name))
        place, convert = places[-1], self._convert
        if place in self._bound:

            def bound(frame: Frame) -> Value:
                value = frame[place]
                if type(value) is Unbound:
                    value = value.bind(frame, place)
                if isinstance(value, CelEvaluationError):
                    raise value
                return begun(value, convert) if last else value

            return self._paid(bound)

        def variable(frame: Frame) -> Value:
            value = frame[place]
            # Inside a chain, the next step unwraps the optional value itself.
            if last and type(value) is Optional:
                return begun(value, convert)
            return value

        return self._paid(variable)

    def _select(self, node: Select, *, last: bool = True) -> Evaluate:
        name = self._checked.names.get(node.number)
        if name is not None:
            return Constant(TypeValue(name))
        operand, field = self._operand(node.operand), node.field
        first = not _is_step(node.operand)
        if node.test_only:
            # Upstream configures that ``has`` costs nothing itself.
            convert = self._convert
            return lambda frame: is_present(operand(frame), field, convert, first=first)
        return self._member(operand, Constant(field), first=first, last=last)

    def _operand(self, node: Expression) -> Evaluate:
        """Compile the operand of a field or an index."""
        match node:
            case Identifier():
                return self._identifier(node, last=False)
            case Select(test_only=False):
                return self._select(node, last=False)
            case Call(function="_[_]"):
                return self._indexed(node, optional=False, last=False)
            case Call(function="_[?_]" | "_?._"):
                return self._indexed(node, optional=True, last=False)
        operand = self.make(node)
        # Operands that are not attributes cost one more.
        return operand if _is_attribute(node) else self._paid(operand)

    def _indexed(self, node: Call, *, optional: bool, last: bool = True) -> Evaluate:
        operand_node, index_node = node.arguments
        operand, index = self._operand(operand_node), self._branch(index_node)
        first = not _is_step(operand_node)
        # A constant index is checked once, when the expression is compiled, as
        # upstream's planner does.
        if isinstance(index, Constant):
            self._check_index(index_node, index.value)
        return self._member(
            operand,
            index,
            first=first,
            last=last,
            optional=optional,
        )

    def _member(
        self,
        operand: Evaluate,
        index: Evaluate,
        *,
        first: bool,
        last: bool,
        optional: bool = False,
    ) -> Evaluate:
        pay = None if self._meter is None else self._meter.payment(1)
        key = index.value if isinstance(index, Constant) else None
        # The fast way has no place for costs.
        if type(key) is str and pay is None and not optional:
            return by_key(operand, key, self._convert, first=first, last=last)
        return step(
            operand,
            index,
            self._convert,
            first=first,
            last=last,
            optional=optional,
            pay=pay,
        )

    def _check_index(self, node: Expression, index: Value) -> None:
        try:
            usable(index)
        except CelEvaluationError as error:
            raise self._failed(node, str(error)) from error

    # Calls.

    def _call(self, node: Call) -> Evaluate:
        match node.function:
            case "_&&_":
                return self._logic(node, neutral=True)
            case "_||_":
                return self._logic(node, neutral=False)
            case "_?_:_":
                return self._condition(node)
            case "_[_]":
                return self._indexed(node, optional=False)
            case "_[?_]" | "_?._":
                return self._indexed(node, optional=True)
            case "or" | "orValue":
                return self._alternative(node)
        overloads = self._overloads(node)
        arguments = node.arguments if node.target is None else [
            node.target, *node.arguments
        ]  # fmt: skip
        compiled = [self.make(each) for each in arguments]
        constant = self._of_constant_arguments(node, overloads, compiled)
        if constant is not None:
            return constant
        at = PATTERN_ARGUMENTS.get(node.function)
        if at is not None and isinstance(compiled[at], Constant):
            self._prepare(node, compiled[at](NO_FRAME))
        return make_call(node.function, overloads, compiled, self._meter)

    def _overloads(self, node: Call) -> tuple[Overload, ...]:
        return self._checked.overloads[node.number]

    def _of_constant_arguments(
        self, node: Call, overloads: Sequence[Overload], compiled: list[Evaluate]
    ) -> Evaluate | None:
        """Compile a call of constants without a call, or return None."""
        if [each.name for each in overloads] == ["in_list"]:
            return _of_constants(*compiled)
        is_conversion = node.function in CONVERSIONS or node.function == "type"
        # Converted when the expression is compiled: an invalid constant is then an
        # error of the expression, not of each device.
        if is_conversion and len(compiled) == 1 and isinstance(compiled[0], Constant):
            return self._converted(node, overloads, compiled[0])
        return None

    def _converted(
        self, node: Call, overloads: Sequence[Overload], argument: Constant
    ) -> Evaluate:
        try:
            overload = dispatcher(overloads, 1)((argument.value,))
            return Constant(overload.implementation(argument.value))
        except CelEvaluationError as error:
            raise self._failed(node, str(error)) from error

    def _prepare(self, node: Call, pattern: Value) -> None:
        try:
            if type(pattern) is str:
                prepared(pattern)
        except CelEvaluationError as error:
            raise self._failed(node, str(error)) from error

    def _failed(self, node: Expression, problem: str) -> CelCompilationError:
        return CelCompilationError(problem, *place_of(self._checked.text, node.offset))

    def _logic(self, node: Call, *, neutral: bool) -> Evaluate:
        left, right = map(self.make, node.arguments)
        return logic(left, right, neutral=neutral)

    def _condition(self, node: Call) -> Evaluate:
        test = self.make(node.arguments[0])
        then, other = map(self._branch, node.arguments[1:])
        return condition(test, then, other, self._convert)

    def _branch(self, node: Expression) -> Evaluate:
        """Compile a branch of a condition or an index; its name has no cost."""
        branch = self.make(node)
        named = _is_attribute(node) and not (
            isinstance(node, Select) and node.test_only
        )
        if isinstance(node, Call) and node.function == "_?_:_":
            named = False
        if isinstance(branch, Constant) or not named:
            return branch
        # The name alone is free here, which `_identifier` has charged for.
        return self._paid(branch, -1)

    def _alternative(self, node: Call) -> Evaluate:
        assert node.target is not None
        first, second = self.make(node.target), self.make(node.arguments[0])
        return alternative(first, second, takes_value=node.function == "orValue")

    # Lists and maps.

    def _list(self, node: ListLiteral) -> Evaluate:
        elements = [self.make(element) for element in node.elements]
        build = list_of(elements, node.optional)
        # A list of constants is made once: values are immutable by convention, so all
        # evaluations may share it.
        if all(isinstance(each, Constant) for each in elements) and not node.optional:
            return Constant(build(NO_FRAME))
        return self._paid(build, LIST_COST)

    def _map(self, node: MapLiteral) -> Evaluate:
        entries = [
            (self.make(entry.key), self.make(entry.value), entry.optional)
            for entry in node.entries
        ]
        build = map_of(entries)
        if all(
            isinstance(key, Constant) and isinstance(value, Constant) and not optional
            for key, value, optional in entries
        ):
            return Constant(build(NO_FRAME))
        return self._paid(build, MAP_COST)

    # Loops.

    def _place(self, name: str) -> int:
        # Places are never used again, even after a loop: a frame is small, and nested
        # loops must not share one.
        place = self.size
        self.size += 1
        self._places.setdefault(name, []).append(place)
        return place

    def _leave(self, name: str) -> None:
        self._places[name].pop()

    def _loop(self, node: Comprehension) -> Evaluate:
        if node.is_binding:
            return self._binding(node)
        over = self.make(node.range)
        names = [node.variable, *([node.second] if node.second is not None else [])]
        places = tuple(map(self._place, names))
        loop = self._made_loop(node, over, places)
        for name in names:
            self._leave(name)
        return loop

    def _made_loop(
        self, node: Comprehension, over: Evaluate, places: tuple[int, ...]
    ) -> Evaluate:
        """Compile a loop by the function of its step, since only macros make loops."""
        step, test = node.step, None
        assert isinstance(step, Call)
        if step.function == "_?_:_":
            test, step = self.make(step.arguments[0]), step.arguments[1]
            assert isinstance(step, Call)

        def step_of(*nodes: Expression) -> Step:
            pay = None if self._meter is None else self._meter.pay
            return Step(over, places, test, tuple(map(self.make, nodes)), pay)

        added = step.arguments[1]
        if step.function == "_&&_":
            return quantify(step_of(added), decisive=False)
        if step.function == "_||_":
            return quantify(step_of(added), decisive=True)
        if step.function == "cel.@mapInsert":
            return collect(step_of(*step.arguments[1:]), into_map=True)
        if isinstance(added, ListLiteral):
            return collect(step_of(added.elements[0]), into_map=False)
        # What is left is ``exists_one``, whose step adds 1.
        return count(step_of())

    def _binding(self, node: Comprehension) -> Evaluate:
        start = self.make(node.start)
        place = self._place(node.accumulator)
        self._bound.add(place)
        result = self.make(node.result)
        self._leave(node.accumulator)
        # Lazily, as upstream: ``cel.bind`` of an expensive value costs nothing if the
        # result does not use it.
        unbound = Unbound(start)

        def bind(frame: Frame) -> Value:
            frame[place] = unbound
            return result(frame)

        return bind


def _value_of(node: Literal) -> Value:
    value = node.value
    return Uint(value.value) if isinstance(value, UintLiteral) else value


_PRIMITIVE: Final = frozenset({bool, bytes, float, int, str, Uint})


def _of_constants(value: Evaluate, members: Evaluate) -> Evaluate | None:
    """Compile ``in`` for a list of plain constants; it has no cost upstream."""
    if not isinstance(members, Constant):
        return None
    constants = members.value
    if not constants:
        return Constant(False)
    if not all(type(each) in _PRIMITIVE for each in constants):
        return None

    def is_member(frame: Frame) -> Value:
        candidate = value(frame)
        return any(surely_equal(candidate, each) for each in constants)

    return is_member


def _is_step(node: Expression) -> bool:
    """Return whether a node is a field or an index, which can continue a chain."""
    if isinstance(node, Call):
        return node.function in ("_[_]", "_[?_]", "_?._")
    return isinstance(node, Select) and not node.test_only


def _is_attribute(node: Expression) -> bool:
    if isinstance(node, Call):
        return node.function in ("_[_]", "_[?_]", "_?._", "_?_:_")
    return isinstance(node, (Identifier, Select))
