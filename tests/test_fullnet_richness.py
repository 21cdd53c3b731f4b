"""Rich training changes as many patterns as the theory says; lazy training changes fewer the wider it is."""

import numpy as np
import pytest

import fullnet

TWO_POINTS = fullnet.two_point(4, np.pi / 15, 20)


@pytest.mark.parametrize("seed", range(8))
def test_after_T_III_exactly_the_living_fractions_have_changed(seed):
    flow = fullnet.gradient_flow(fullnet.initial_network(100, 20, 0.1, 1.0, seed), TWO_POINTS, 1e8)
    phases = fullnet.phase_times(flow)
    assert phases.times["T_III"] is not None
    times = np.geomspace(phases.times["T_III"], 1e8, 4)
    share = fullnet.pattern_share(flow, times=times)
    assert share.condensed_at == phases.times["last_phase_one_event"]
    expected = [len(phases.negative) / 100, len(phases.positive) / 100]
    np.testing.assert_array_equal(share.from_condensation, np.tile(expected, (4, 1)))


def test_shares_over_time():
    flow = fullnet.gradient_flow(fullnet.initial_network(100, 20, 0.1, 1.0, 1), TWO_POINTS, 1e8)
    share = fullnet.pattern_share(flow, points=40)
    assert share.t[0] == 0
    np.testing.assert_array_equal(share.from_start[0], 0)
    assert np.all(np.isnan(share.from_condensation[share.t < share.condensed_at]))
    quiet = (share.t > share.condensed_at) & (share.t < fullnet.phase_times(flow).times["T_II"])
    np.testing.assert_array_equal(share.from_condensation[quiet], 0)
    first, last = np.array(flow.patterns(0.0)), np.array(flow.patterns(flow.end))
    for j in range(2):
        changed = np.mean([a[j] != b[j] for a, b in zip(first, last, strict=True)])
        assert share.from_start[-1, j] == changed


def test_width_study():
    """Rich: no dependence on m. Lazy: weights of fixed size move by about 1/√m, at an angle that is not small."""
    narrow, wide = fullnet.two_point(4, np.pi / 15, 2), fullnet.two_point(4, 1.2, 2)
    widths = [100, 400, 1600]
    rich = fullnet.width_study(narrow, widths, "rich", until=1e3, seeds=range(4))
    lazy = fullnet.width_study(wide, widths, "lazy", kappa1=1.0, until=1e3, seeds=range(8))
    assert abs(rich.exponent) < 0.1
    assert lazy.exponent == pytest.approx(-0.5, abs=0.12)
    assert np.all(np.diff(lazy.changed) < 0)
    data = narrow
    with pytest.raises(fullnet.InputError, match="widths: expected at least two"):
        fullnet.width_study(data, [100], "rich")
    with pytest.raises(fullnet.InputError, match="regime: expected one of rich, lazy"):
        fullnet.width_study(data, [10, 20], "kernel")
