"""The sandbox on a Ray cluster of several processes: verdicts of the local pool, and a host that dies in mid-run."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from test_sandbox_walls import HONEST, TASK

from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.judges import open_pool
from sandbox.options import Options
from sandbox.pool import SandboxPool

ray = pytest.importorskip("ray")
ENDLESS = "while True:\n    pass\n" + HONEST


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 80_000_000})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def add_node(cluster, cpus=1):
    node = cluster.add_node(num_cpus=cpus, object_store_memory=80_000_000)
    cluster.wait_for_nodes()
    return node


@pytest.mark.slow
def test_a_lost_host_costs_no_verdict_and_no_cluster_is_an_infrastructure_fault(cluster):
    from sandbox.ray_pool import RayPool

    nodes = [add_node(cluster), add_node(cluster)]
    with pytest.raises(UserError, match=r"sandbox.workers 3: the Ray cluster has 2 CPUs"):
        RayPool(Options(), workers=3, address=cluster.address)
    options = Options(timeout=8.0, cache_verdicts=0)
    with RayPool(options, workers=2, max_pending=4, address=cluster.address) as pool:
        pool.start()
        good, bad = asyncio.run(both(pool))
        with SandboxPool(options, workers=1) as local:
            assert good == verdict(local.submit(TASK, HONEST).result())
        assert bad[0] == "static_error"
        running = [pool.submit(TASK, ENDLESS, seed=i) for i in range(3)]  # both hosts are busy, one waits
        time.sleep(2.0)
        began = time.monotonic()
        cluster.remove_node(nodes[0], allow_graceful=False)
        results = [future.result(timeout=120) for future in running]
        assert [r.verdict for r in results] == ["timeout"] * 3
        assert time.monotonic() - began < 60
        assert pool.restarts == 1
        # back-pressure: a fifth submission waits until one is done
        blocked = threading.Thread(target=lambda: [pool.submit(TASK, ENDLESS, seed=i) for i in range(5)])
        blocked.start()
        time.sleep(1.0)
        assert blocked.is_alive() and pool.waiting <= 4
        cluster.remove_node(nodes[1], allow_graceful=False)
        blocked.join(timeout=120)
        last = pool.submit(TASK, HONEST).result(timeout=120)
        assert last.verdict == "infrastructure_error"
        add_node(cluster)  # the pool heals when a host comes
        deadline = time.monotonic() + 120
        while pool.submit(TASK, "def (").result(timeout=120).verdict != "static_error":
            assert time.monotonic() < deadline
            time.sleep(1.0)


async def both(pool):
    good, bad = await asyncio.gather(pool.verify(TASK, HONEST), pool.verify(TASK, "def ("))
    return verdict(good), verdict(bad)


def verdict(feedback):
    return feedback.verdict, feedback.score, feedback.cases_passed


def test_the_configuration_chooses_the_sandbox_and_its_mistakes_are_clear(monkeypatch):
    with pytest.raises(ValueError, match="exclude each other"):
        Config.model_validate({"sandbox": {"url": "http://x", "ray": "auto"}})
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if not ray.is_initialized():
        with pytest.raises(UserError, match=r"no Ray cluster at '127.0.0.1:9'"):
            open_pool(Config.model_validate({"sandbox": {"ray": "127.0.0.1:9"}}))
