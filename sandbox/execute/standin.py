"""Stand-ins for the driver and for torch_npu in a process without an NPU.

Kernels written for Ascend ask for core counts on the host and choose grids and block sizes from them. These stand-ins
answer with the target's real numbers, so that a kernel takes the same path here as on the device. They launch nothing:
whoever records a kernel replaces `JITFunction.run`.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Callable
from typing import Any

from sandbox import toolchain
from sandbox.toolchain import Device

Benchmarker = Callable[..., Any]

DEVICE_INDEX = 0


def equal_times(kernel_call: Callable[[], Any], quantiles: Any = None, **_: Any) -> Any:
    """A benchmarker that launches nothing: without a device no configuration is faster than another, the first wins."""
    return 1.0 if quantiles is None else [1.0] * len(quantiles)


class DeviceUtils:
    """What `triton.runtime.driver.active.utils` answers on a device."""

    def __init__(self, device: Device):
        self._device = device

    def get_device_properties(self, device: Any = DEVICE_INDEX) -> dict[str, int]:
        return {
            "max_shared_mem": self._device.ub,
            "num_aicore": self._device.cube_cores,
            "num_vectorcore": self._device.vector_cores,
        }

    def get_arch(self) -> str:
        return self._device.arch

    def get_aicore_num(self) -> int:
        return self._device.cube_cores

    def get_aivector_core_num(self) -> int:
        return self._device.vector_cores


class StandInDriver:
    """Answers like triton-ascend's NPUDriver for one target."""

    def __init__(self, device: Device, benchmarker: Benchmarker):
        self._device = device
        self._benchmarker = benchmarker
        self.utils = DeviceUtils(device)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("npu", self._device.arch, 0)

    def get_current_device(self) -> int:
        return DEVICE_INDEX

    def set_current_device(self, device: Any) -> None:
        """There is one device."""

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_benchmarker(self) -> Benchmarker:
        return self._benchmarker

    def get_device_interface(self) -> Any:
        return sys.modules["torch"].npu

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(self._device.l2 // 4, dtype=torch.int32)

    def launcher_cls(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no NPU here: launches are recorded, not executed")


class _Stream:
    """A stream or an event of the one device: everything is already in order."""

    npu_stream = 0

    def __init__(self, *args: Any, **kwargs: Any):
        pass

    def synchronize(self) -> None: ...

    def wait_stream(self, other: Any) -> None: ...

    def wait_event(self, other: Any) -> None: ...

    def record_event(self, event: Any = None) -> Any:
        return event if event is not None else _Stream()

    def record(self, stream: Any = None) -> None: ...

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *exc: object) -> None: ...


def _module(name: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, loader=None, is_package=True)
    module.__path__ = []
    for member, value in members.items():
        setattr(module, member, value)
    sys.modules[name] = module
    return module


def _nothing(*args: Any, **kwargs: Any) -> None:
    """A call that only matters on a device."""


def _torch_npu(device: Device) -> types.ModuleType:
    properties = types.SimpleNamespace(
        name=device.arch,
        total_memory=device.hbm,
        cube_core_num=device.cube_cores,
        vector_core_num=device.vector_cores,
        multi_processor_count=device.cube_cores,
        L2_cache_size=device.l2,
    )
    config = _module(
        "torch_npu.npu.npu_config",
        get_device_limit=lambda index=DEVICE_INDEX: {
            "cube_core_num": device.cube_cores,
            "vector_core_num": device.vector_cores,
        },
        set_device_limit=_nothing,
    )
    npu = _module(
        "torch_npu.npu",
        npu_config=config,
        get_device_limit=config.get_device_limit,
        current_device=lambda: DEVICE_INDEX,
        set_device=_nothing,
        device_count=lambda: 1,
        is_available=lambda: True,
        is_initialized=lambda: True,
        init=_nothing,
        synchronize=_nothing,
        empty_cache=_nothing,
        get_device_name=lambda index=DEVICE_INDEX: device.arch,
        get_device_properties=lambda index=DEVICE_INDEX: properties,
        get_soc_version=lambda: 220 + sorted(toolchain.DEVICES).index(device.arch),
        mem_get_info=lambda index=DEVICE_INDEX: (device.hbm, device.hbm),
        memory_allocated=lambda index=DEVICE_INDEX: 0,
        max_memory_allocated=lambda index=DEVICE_INDEX: 0,
        reset_peak_memory_stats=_nothing,
        manual_seed=_nothing,
        manual_seed_all=_nothing,
        set_compile_mode=_nothing,
        current_stream=lambda index=None: _Stream(),
        default_stream=lambda index=None: _Stream(),
        stream=lambda stream=None: _Stream(),
        device=_Stream,
        Stream=_Stream,
        Event=_Stream,
    )
    return _module("torch_npu", npu=npu, __version__="0 (stand-in)")


def install_driver_stand_in(arch: str = toolchain.DEFAULT_ARCH, benchmarker: Benchmarker = equal_times) -> None:
    """Make triton's driver, `torch_npu` and `torch.npu` answer for `arch` in this process.

    Args:
        benchmarker: what `@triton.autotune` times configurations with: `f(kernel_call, quantiles=...)`; a
            configuration that does not compile should be given infinite times.

    Raises:
        UserError: unknown arch.
    """
    import torch
    from triton.runtime import driver

    device = toolchain.device(arch)
    driver.set_active(StandInDriver(device, benchmarker))
    module = _torch_npu(device)
    torch.npu = module.npu  # type: ignore[attr-defined]
    sys.modules["torch.npu"] = module.npu
