"""Gradient flow with the event loop compiled by numba, for many neurons; rare events are settled here."""

from __future__ import annotations

import numpy as np

from fullnet import compilation
from fullnet import flow_kernel as kernel
from fullnet import kernel_records as records
from fullnet.crowds import near_kinks
from fullnet.decide import Neuron, settle
from fullnet.forces import scaled
from fullnet.history import Ints
from fullnet.kernel_gates import move_all
from fullnet.kernel_series import EPS
from fullnet.loss import Loss
from fullnet.standing import Log, Standing
from fullnet.surfaces import State
from fullnet.task import Task
from fullnet.ways import with_sides

_CHUNK = 1024
_ROOM = 64


def is_compiled() -> bool:
    """Return whether the kernels are ready, in this process or on disk."""
    return all(map(compilation.is_compiled, (kernel.run, move_all)))


class CompiledEngine:
    """A flow under way: the standing's arrays are changed in place by the kernel."""

    def __init__(self, task: Task, standing: Standing, log: Log) -> None:
        """Lay out crowds, heaps and certificates for a standing."""
        self.task, self.standing, self.log = task, standing, log
        self.surfaces = task.surfaces
        self.n, self.points = self.surfaces.count, len(task.data.y)
        force = self.surfaces.force
        self.problem = records.Problem(
            task.data.y.copy(),
            np.log(task.data.weights),
            task.loss is Loss.LOGISTIC,
            task.share,
            # motions on kinks are projections, so no neuron adds more than that of two parallel points
            task.network.kappa2**2 * float((task.data.X**2).sum(axis=1).max()),
            np.array([force[-1], np.zeros_like(force[1]), force[1]]),
            task.order,
            task.tolerance,
        )
        for name in ("f", "impulse", "impulse_low", "member", "base", "fresh"):
            setattr(standing, name, np.array(getattr(standing, name)))
        self._lay_out()
        self._build_heaps()
        self._certify()
        self.record, self.no_pieces = self._blank(_CHUNK), self._blank(0)

    def _lay_out(self) -> None:
        """Allocate the tables with room for new crowds and fill in those met."""
        self.capacity = 2 * len(self.standing.keys) + _ROOM
        size, n, N = self.capacity, self.n, self.points
        self.tables = records.Tables(
            velocity=np.zeros((size, n, N)),
            push=np.zeros((size, n, N)),
            rates=np.zeros((size, N, N)),
            side=np.zeros((size, n), dtype=np.int64),
            active=np.zeros((size, N), dtype=np.bool_),
            dead=np.ones(size, dtype=np.bool_),
            approach=np.zeros((size, n)),
            since=np.zeros((size, N)),
            since_low=np.zeros((size, N)),
            following=np.full((size, n, 3), -1),
            exit_crowd=np.zeros(0, dtype=np.int64),
            exit_row=np.zeros((0, N)),
            exit_jump=np.zeros((0, N)),
            exit_bound=np.zeros(0),
        )
        self.exits: list[tuple[int, int, int]] = []
        for number in range(len(self.standing.keys)):
            self._describe(number)

    def _describe(self, number: int) -> None:
        """Fill in the tables for a crowd."""
        motion = self.surfaces.motion(*self.standing.keys[number])
        tables = self.tables
        tables.velocity[number], tables.push[number] = motion.velocity, motion.push
        tables.rates[number], tables.side[number] = motion.rates, motion.state
        tables.active[number], tables.dead[number] = motion.active, motion.dead
        closing = -tables.side[number][:, None] * motion.velocity
        tables.approach[number] = np.maximum(closing.max(axis=1), 0.0)
        tables.since[number] = self.standing.since[number]
        tables.since_low[number] = self.standing.since_low[number]
        if motion.exits:
            self.exits += [(number, s, side) for s, side, _ in motion.exits]
            rows = [row for *_, row in motion.exits]
            jumps = [self.surfaces.jump(s) for s, *_ in motion.exits]
            self.tables = tables._replace(
                exit_crowd=np.append(tables.exit_crowd, [number] * len(motion.exits)),
                exit_row=np.vstack([tables.exit_row, rows]),
                exit_jump=np.vstack([tables.exit_jump, jumps]),
                exit_bound=np.append(tables.exit_bound, np.zeros(len(jumps))),
            )

    def _build_heaps(self) -> None:
        """Put every neuron into the heaps of its crowd: a sorted chain is a heap."""
        standing, n = self.standing, self.n
        m = len(standing.member)
        side = self.tables.side[standing.member]
        key = (side * standing.base).reshape(-1)
        child, sibling, before = (np.full(m * n, -1) for _ in range(3))
        root = np.full(self.capacity * n, -1)
        order = np.argsort(standing.member, kind="stable")
        ends = np.searchsorted(standing.member[order], np.arange(len(standing.keys) + 1))
        for number in range(len(standing.keys)):
            mine = order[ends[number] : ends[number + 1]]
            if self.tables.dead[number] or not len(mine):
                continue
            for s in np.flatnonzero(self.tables.side[number]).tolist():
                nodes = mine * n + s
                nodes = nodes[np.lexsort((nodes, key[nodes]))]
                child[nodes[:-1]], before[nodes[1:]] = nodes[1:], nodes[:-1]
                root[number * n + s] = nodes[0]
        count = np.bincount(standing.member, minlength=self.capacity)
        live = self.tables.active[standing.member].sum(axis=0)
        total = standing.rates.copy() if standing.rates.size else np.zeros((self.points, self.points))
        self.state = records.State(
            clock=np.array([standing.t, 0.0]),
            f=standing.f,
            impulse=standing.impulse,
            impulse_low=standing.impulse_low,
            total=total,
            live=live,
            count=count,
            member=standing.member,
            base=standing.base,
            fresh=standing.fresh,
            key=key,
            child=child,
            sibling=sibling,
            before=before,
            root=root,
            tree=np.full(2 << (self.capacity * n - 1).bit_length(), np.inf),
        )
        standing.rates = total
        self._zero_predictions()

    def _certify(self) -> None:
        """Take over the certificates of a standing, or begin with none."""
        leaves = len(self.state.tree) // 2
        gates = len(self.standing.keys) * self.n
        found = self.standing.reach
        if len(found):
            self.state.clock[1] = found[0]
            self.state.tree[leaves : leaves + len(found) - 1] = found[1:]
        else:
            held = self.state.root[:gates] >= 0
            self.state.tree[leaves : leaves + gates][held] = 0.0
        for place in range(leaves - 1, 0, -1):
            self.state.tree[place] = min(self.state.tree[2 * place], self.state.tree[2 * place + 1])
        self._make_room()

    def _make_room(self) -> None:
        orders, N, gates = self.task.order + 2, self.points, self.capacity * self.n
        p, rho, rate, q, g = (np.zeros((orders, N)) for _ in range(5))
        self.room = records.Room(
            p=p,
            rho=rho,
            rate=rate,
            q=q,
            g=g,
            w=np.zeros(orders),
            c=np.zeros(orders + 1),
            growth=np.zeros((N, N)),
            rates=np.zeros((N, N)),
            powers=np.zeros((3, N, N)),
            gained=np.zeros(N),
            idle=np.zeros(N),
            on=np.zeros(self.n, dtype=np.bool_),
            everyone=np.ones(N, dtype=np.int64),
            gates=np.zeros(gates, dtype=np.int64),
            far=np.zeros(gates),
        )

    def _blank(self, pieces: int) -> records.Record:
        N = self.points
        neuron, old, new, piece = (np.zeros(_CHUNK, dtype=np.int64) for _ in range(4))
        return records.Record(
            start=np.zeros(pieces),
            used=np.zeros(pieces),
            step=np.zeros(pieces),
            prediction=np.zeros((pieces, N)),
            impulse=np.zeros((pieces, N)),
            impulse_low=np.zeros((pieces, N)),
            time=np.zeros(_CHUNK),
            neuron=neuron,
            old=old,
            new=new,
            piece=piece,
            made=np.zeros(3, dtype=np.int64),
        )

    def advance(self, until: float, most: int) -> None:
        """Integrate up to ``most`` smooth pieces, to a time or to the next rare event."""
        record = self.record if most >= _CHUNK else self._blank(most)
        what, which = self._run(record, until)
        self.standing.t = float(self.state.clock[0])
        if what == kernel.UNMET:
            self._meet_around(which)
            what, which = self._run(self.no_pieces, until, which)
        if what == kernel.EXIT:
            self._release(which)
        elif what == kernel.SEVERAL:
            self._arrive(which)

    def _run(self, record: records.Record, until: float, arrived: int = -1) -> tuple[int, int]:
        """Let the kernel go on and write down what it recorded; return what it left, and where."""
        record.made[:] = 0, 0, self.log.pieces
        what, which = kernel.run(self.problem, self.tables, self.state, record, self.room, until, arrived)
        pieces, moves = record.made[:2].tolist()
        self.log.add_blocks(
            tuple(column[:pieces].copy() for column in record[:6]),
            tuple(column[:moves].copy() for column in record[6:11]),
        )
        return what, which

    def pause(self) -> None:
        """Write the certificates into the standing, which then is all that is needed to go on."""
        leaves, gates = len(self.state.tree) // 2, len(self.standing.keys) * self.n
        self.standing.reach = np.append(self.state.clock[1], self.state.tree[leaves : leaves + gates])

    def _release(self, which: int) -> None:
        """Let the crowds go whose multipliers reach their end at this moment."""
        tables, state = self.tables, self.state
        force = scaled(state.f, self.task.data, self.task.loss)
        rate = -self.task.data.y * (self.task.share * state.total @ force.u)
        slope = force.u * (rate if force.q is None else force.q * rate)
        row, jump = tables.exit_row, np.sign(tables.exit_jump @ force.u)
        at_end = np.abs(row @ force.u) <= 16 * EPS * (np.abs(row) @ force.u)
        leaving = at_end & (jump * (row @ slope) < 0) & (state.count[tables.exit_crowd] > 0)
        leaving[which] = True
        chosen = [self.exits[i] for i in np.flatnonzero(leaving).tolist()]
        members = {number: np.flatnonzero(state.member == number) for number, *_ in chosen}
        for number, s, side in chosen:
            mine = members[number][state.member[members[number]] == number]
            self._move(mine, number, with_sides(self.standing.keys[number][1], [s], [side]), [s])

    def _arrive(self, gate: int) -> None:
        """Settle the nearest neuron of a gate, which has come to its surface."""
        number, s = divmod(gate, self.n)
        k = int(self.state.root[gate]) // self.n
        sign, state = self.standing.keys[number]
        on = sorted({s, *self._close_to(k, number)})
        force = scaled(self.state.f, self.task.data, self.task.loss).u
        after = settle(self.surfaces, Neuron(k, sign, state, arriving=True), on, force, self.task.ridge)
        self._move(np.array([k]), number, after, on)

    def _close_to(self, k: int, number: int) -> list[int]:
        state, tables = self.state, self.tables
        gained = (state.impulse - tables.since[number]) + (state.impulse_low - tables.since_low[number])
        offset, size = tables.velocity[number] @ gained, np.abs(tables.velocity[number]) @ gained
        near = near_kinks(state.base[k], offset, size)
        return np.flatnonzero(near | (tables.side[number] == 0)).tolist()

    def _meet_around(self, gate: int) -> None:
        """Note which crowds lie on either side of a gate's surface, and on it."""
        number, s = divmod(gate, self.n)
        sign, state = self.standing.keys[number]
        for side in (-1, 0, 1):
            following = self._number(sign, with_sides(state, [s], [side]))
            self.tables.following[number, s, side + 1] = following

    def _number(self, sign: int, state: State) -> int:
        """Return the number of a crowd; make room and describe it if it is new."""
        met = len(self.standing.keys)
        number = self.standing.number((sign, state))
        if number == met and number >= self.capacity:
            self._grow()
        elif number == met:
            self._describe(number)
        return number

    def _grow(self) -> None:
        """Lay everything out anew with more room, keeping certificates and known neighbours."""
        following, count, live = self.tables.following, self.state.count, self.state.live
        root, tree, clock = self.state.root, self.state.tree, self.state.clock
        self._lay_out()
        self.tables.following[: len(following)] = following
        size = self.capacity * self.n
        leaves, wide = len(tree) // 2, np.full(2 << (size - 1).bit_length(), np.inf)
        wide[len(wide) // 2 : len(wide) // 2 + min(leaves, size)] = tree[leaves:][:size]
        for place in range(len(wide) // 2 - 1, 0, -1):
            wide[place] = min(wide[2 * place], wide[2 * place + 1])
        self._make_room()
        self.state = self.state._replace(
            count=np.append(count, np.zeros(self.capacity - len(count), dtype=count.dtype)),
            live=live,
            root=np.append(root, np.full(size - len(root), -1)),
            tree=wide,
            clock=clock,
        )

    def _move(self, neurons: Ints, number: int, state: State, on: list[int]) -> None:
        """Move neurons of one crowd to another and log it."""
        new = self._number(self.standing.keys[number][0], state)
        marks = np.zeros(self.n, dtype=np.bool_)
        marks[on] = True
        move_all(self.tables, self.state, neurons, new, marks)
        if new != number:
            for k in neurons.tolist():
                self.log.add_move(self.standing.t, k, number, new, self.log.pieces)
        self._zero_predictions()

    def _zero_predictions(self) -> None:
        self.state.f[self.state.live == 0] = 0.0
