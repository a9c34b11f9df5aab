"""Private networks where processes fork, threads meet, attackers tamper and streams end early."""

import copy
import os
import pickle
import threading
import time
import warnings

import numpy as np
import pytest
from tests.private import private_network

import mtcool
from mtcool.privacy import ExactNoise, NoNoise, PerGradient, SimulatedNoise

RING = mtcool.graphs.ring(5)


def private(seed=5, **settings):
    settings = {"epsilon": 1.0, "horizon": 300, "lipschitz": 4.0, **settings}
    return private_network(RING, 2, seed=seed, **settings)


def in_a_fork(function):
    """What `function` returns, or raises, in a forked process."""
    receive, send = os.pipe()
    with warnings.catch_warnings():  # that some library has started a thread
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            answer = function()
        except BaseException as error:
            answer = error
        os.write(send, pickle.dumps(answer))
        os._exit(0)
    os.close(send)
    with open(receive, "rb") as pipe:
        answer = pickle.load(pipe)
    os.waitpid(child, 0)
    if isinstance(answer, BaseException):
        raise answer
    return answer


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
refused_in_a_fork = pytest.raises(ValueError, match="process that made or loaded")


@forks
@pytest.mark.parametrize("seed", [None, 5, np.random.Generator(np.random.MT19937(0))])
def test_a_forked_network_publishes_nothing(seed):
    """Two children with the noise of their parent would publish the difference of their data."""
    net = private(seed)
    stream = mtcool.Stream([0], mtcool.streams.linear(np.ones((1, 2))))
    for call in (
        lambda: net.update(0, [1.0, 0.0]),
        lambda: mtcool.simulate(net, stream),
        lambda: net.save(os.devnull),
        lambda: copy.deepcopy(net),
        lambda: pickle.dumps(net),
    ):
        with refused_in_a_fork:
            in_a_fork(call)
    np.testing.assert_array_equal(in_a_fork(lambda: net.predict(0)), net.predict(0))
    net.update(0, [1.0, 0.0])


@forks
@pytest.mark.parametrize("source", [SimulatedNoise, lambda: SimulatedNoise(3), ExactNoise])
def test_no_source_draws_in_a_fork(source):
    noise = source()
    with refused_in_a_fork:
        in_a_fork(lambda: noise.draw("laplace", np.ones(3)))
    with refused_in_a_fork:
        in_a_fork(noise.state)
    assert len(noise.draw("laplace", np.ones(3))) == 3


@forks
def test_a_forked_process_may_load_a_network_of_its_own(tmp_path):
    private().save(tmp_path / "net.npz")

    def play():
        net = mtcool.load(tmp_path / "net.npz")
        net.update(0, [1.0, 0.0])
        return net.released

    assert in_a_fork(play) == 1


def test_noise_scales_cannot_be_written_to():
    net = private()
    calibration, channels = net.sanitiser.calibration, net.sanitiser.channels
    arrays = [calibration.gradient, calibration.products, calibration.level]
    arrays += [channels.products, channels.load, channels.energy, channels.price]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            array.setflags(write=True)


def test_nothing_of_a_private_network_can_be_deleted():
    net = private()
    for name in ("sanitiser", "setup", "peers", "weights", "graph"):
        with pytest.raises(ValueError, match=f"{name} of a private network cannot be deleted"):
            delattr(net, name)
    for name in ("_sealed", "noise", "calibration"):
        with pytest.raises(ValueError, match=f"{name} of a private network cannot be deleted"):
            delattr(net.sanitiser, name)
    with pytest.raises(AttributeError):
        net.sanitiser.noise.generator = np.random.default_rng(0)
    with pytest.raises(AttributeError):
        net.sanitiser.noise.grid = 1.0


def in_threads(number, function):
    failures = []

    def run(k):
        try:
            function(k)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_threads_take_turns_on_a_private_network():
    """Without turns one thread takes the noise of another, and `update` blames the gradient."""
    net = private(aggregator=NoNoise(), horizon=1000)

    def play(k):
        for _ in range(200):
            net.predict(k)
            net.update(k, [1.0, 0.0])

    assert in_threads(5, play) == []
    assert net.released == 1000
    # NoNoise publishes exact sums: nothing got lost.
    width = int(net.peers.state.aggregator.width[0])
    published = net.peers.state.aggregator.published.reshape(5, width)
    np.testing.assert_allclose(published[:, 0], 200 / 4.0)


class SlowNoise(SimulatedNoise):
    """A source whose draws take a while, as those of exact noise do: other threads come between."""

    def draw(self, law, scales):
        drawn = super().draw(law, scales)
        time.sleep(0.002)
        return drawn


def test_threads_take_turns_on_private_agents():
    """Without turns two of their sums have the same noise, and the difference has none."""
    net, noise = private(epsilon=1.0, aggregator=PerGradient()), SlowNoise(3)
    agents = [net.agent(k).with_source(noise) for k in (0, 2)]
    published = [[], []]

    def play(k):
        agent = agents[k % 2]
        near = {name: net.agent(name).rows(agent.name) for name in agent.activate().requests}
        for _ in range(5):
            activation = agent.activate()
            activation.predict(near)
            published[k % 2].append(activation.learn([0.0, 0.0])[1])

    assert in_threads(6, play) == []
    noises = set()
    for agent, sums in zip(agents, published, strict=True):
        assert agent.released == 15
        assert sorted(one.number for one in sums) == list(range(1, 16))
        totals = np.array([one.total for one in sorted(sums, key=lambda one: one.number)])
        noises |= {tuple(step) for step in np.diff(totals, axis=0).round(9)}
    assert len(noises) == 28


def test_a_simulation_is_one_turn():
    """Its horizon is checked at the start, and holds until the end."""
    net = private(horizon=400)
    rounds = 400
    stream = mtcool.Stream(np.zeros(rounds, np.int64), mtcool.streams.linear(np.ones((rounds, 2))))

    def play(_):
        mtcool.simulate(net, stream, times=np.arange(0, rounds + 1, 10))

    (failure,) = in_threads(2, play)
    assert "horizon of agent 0 is 400 activations, of which 400 are spent" in str(failure)


@forks
def test_a_fork_in_the_middle_of_a_call_of_another_thread_is_refused():
    net = mtcool.i_ftrl(RING, 2)
    inside, done = threading.Event(), threading.Event()

    def hold():
        with net.turn.lock:
            inside.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    try:
        with pytest.raises(ValueError, match="in use by another thread when the process is forked"):
            in_a_fork(lambda: net.predict(0))
    finally:
        done.set()
        thread.join()
    np.testing.assert_array_equal(in_a_fork(lambda: net.predict(0)), [0.0, 0.0])


@pytest.mark.parametrize("levels", [{}, {"delta": 1e-5}])
@pytest.mark.parametrize("seed", [5, "PCG64DXSM", "MT19937", "Philox"])
def test_a_simulation_that_ends_early_has_drawn_no_noise_for_the_rest(levels, seed):
    def fresh():
        if isinstance(seed, int):
            return private(seed, **levels)
        return private(np.random.Generator(getattr(np.random, seed)(1)), **levels)

    agents, gradients = np.arange(40) % 5, np.ones((40, 2))
    net, other = fresh(), fresh()
    stream = mtcool.Stream(agents, mtcool.streams.linear(gradients))
    stream.losses.rows[17] = np.inf  # later: a stream with such numbers is refused
    with pytest.raises(ValueError, match="the network holds the 17 rounds before it"):
        mtcool.simulate(net, stream)
    mtcool.simulate(other, mtcool.Stream(agents[:17], mtcool.streams.linear(gradients[:17])))
    for one in (net, other):
        one.update(2, [0.3, 0.1])
    assert net.released == other.released == 18
    np.testing.assert_array_equal(
        net.peers.state.aggregator.published, other.peers.state.aggregator.published
    )


def test_noise_is_not_given_back_when_somebody_else_has_drawn_since():
    shared = np.random.default_rng(0)
    noise = SimulatedNoise(shared)
    noise.draw("laplace", np.ones(10))
    theirs = shared.random()
    noise.keep(5)
    assert shared.random() != theirs
    reference = np.random.default_rng(0)
    reference.standard_exponential((10, 2))
    assert reference.random() == theirs
    noise.draw("laplace", np.ones(10))
    noise.keep(0)
    assert shared.random() == reference.random(2)[1]
