"""Real kernels through the Ascend compiler and native execution, against torch and numpy."""

import numpy as np
import pytest
import torch
from kernels import tutorials as kernel
from kernels.harness import launch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)


def close(out, expected, dtype=torch.float32):
    torch.testing.assert_close(out.float(), expected.float(), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize(
    "dtype", (*DTYPES, torch.int8, torch.int16, torch.int32, torch.int64), ids=lambda d: str(d).split(".")[1]
)
def test_vector_add_with_a_tail_is_exact(rng, dtype):
    n = 1073
    if dtype.is_floating_point:
        x, y = (torch.randn(n, generator=rng).to(dtype) for _ in range(2))
    else:
        x, y = (torch.randint(-60, 60, (n,), generator=rng).to(dtype) for _ in range(2))
    out = torch.empty_like(x)
    launch(kernel.vector_add, (9,), x, y, out, n, BLOCK=128)
    assert torch.equal(out, x + y)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_softmax_rows(rng, dtype):
    x = (torch.randn(37, 300, generator=rng) * 4).to(dtype)
    out = torch.empty_like(x)
    launch(kernel.softmax_rows, (20,), x, out, 37, 300, 300, BLOCK=512)
    close(out, x.float().softmax(1), dtype)


def test_layer_norm_forward_and_backward(rng):
    rows, columns, parts = 19, 200, 4
    x, dy = (torch.randn(rows, columns, generator=rng) for _ in range(2))
    weight, bias = (torch.randn(columns, generator=rng) for _ in range(2))
    out, mean, rstd = torch.empty_like(x), torch.empty(rows), torch.empty(rows)
    launch(kernel.layer_norm_forward, (rows,), x, out, weight, bias, mean, rstd, columns, 1e-5, BLOCK=128)
    inputs = [t.double().requires_grad_() for t in (x, weight, bias)]
    expected = torch.nn.functional.layer_norm(inputs[0], (columns,), inputs[1], inputs[2], 1e-5)
    close(out, expected.detach())
    expected.backward(dy.double())
    dx, dweight, dbias = torch.empty_like(x), torch.empty(parts, columns), torch.empty(parts, columns)
    launch(
        kernel.layer_norm_backward, (parts,), dy, x, weight, mean, rstd, dx, dweight, dbias, rows, columns, BLOCK=256
    )
    for ours, theirs in zip((dx, dweight.sum(0), dbias.sum(0)), inputs, strict=True):
        torch.testing.assert_close(ours, theirs.grad.float(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("transposed", (False, True), ids=("row-major", "transposed"))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matmul_with_ragged_shapes(rng, dtype, transposed):
    M, N, K = 67, 53, 77
    a = torch.randn(M, K, generator=rng).to(dtype)
    b = torch.randn(N, K, generator=rng).to(dtype).T if transposed else torch.randn(K, N, generator=rng).to(dtype)
    c = torch.empty(M, N, dtype=dtype)
    launch(kernel.matmul, (3 * 4,), a, b, c, M, N, K, *a.stride(), *b.stride(), BM=32, BN=16, BK=32)
    close(c, (a.double() @ b.double()).to(dtype), dtype)


def test_matmul_with_block_pointers(rng):
    a, b = torch.randn(40, 50, generator=rng).half(), torch.randn(50, 36, generator=rng).half()
    c = torch.empty(40, 36, dtype=torch.float16)
    launch(kernel.matmul_block_pointers, (3, 3), a, b, c, 40, 36, 50, BM=16, BN=16, BK=16)
    close(c, (a.double() @ b.double()).half(), torch.float16)


@pytest.mark.parametrize("causal", (False, True), ids=("full", "causal"))
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16), ids=str)
def test_fused_attention(rng, dtype, causal):
    heads, length, width = 2, 75, 32
    q, k, v = (torch.randn(heads, length, width, generator=rng).to(dtype) for _ in range(3))
    out = torch.empty_like(q)
    scale = width**-0.5
    launch(kernel.attention, (3, heads), q, k, v, out, scale, length, CAUSAL=causal, D=width, BM=32, BN=32)
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
    close(out, expected.to(dtype), dtype)


def test_grouped_matmul_with_empty_and_ragged_groups(rng):
    sizes = torch.tensor([17, 0, 33, 5], dtype=torch.int32)
    rows, N, K = int(sizes.sum()), 40, 48
    a, b = torch.randn(rows, K, generator=rng).half(), torch.randn(4, K, N, generator=rng).half()
    c = torch.empty(rows, N, dtype=torch.float16)
    launch(kernel.grouped_matmul, (5,), a, b, c, sizes, N, K, BM=16, BN=16, BK=16, GROUPS=4)
    parts = torch.split(a.double(), sizes.tolist())
    close(c, torch.cat([part @ b[i].double() for i, part in enumerate(parts)]).half(), torch.float16)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_top_k_with_indices(rng, dtype):
    x = torch.randperm(11 * 50, generator=rng).view(11, 50).sub(200).to(dtype)
    x = x if dtype == torch.float32 else torch.stack([torch.randperm(50, generator=rng) for _ in range(11)]).to(dtype)
    values, indices = torch.empty(11, 4), torch.empty(11, 4, dtype=torch.int64)
    launch(kernel.top_k_rows, (11,), x, values, indices, 50, K=4, BLOCK=64)
    expected = x.float().topk(4, dim=1)
    assert torch.equal(values, expected.values)
    assert torch.equal(indices, expected.indices)


@pytest.mark.parametrize("reverse", (False, True))
def test_cumsum_along_rows(rng, reverse):
    x = torch.randint(-9, 9, (5, 64), generator=rng).float()
    out = torch.empty_like(x)
    launch(kernel.cumsum_rows, (5,), x, out, 64, REVERSE=reverse, BLOCK=64)
    assert torch.equal(out, x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1))


@pytest.mark.parametrize("axis", (0, 1))
def test_cumsum_of_a_tile(rng, axis):
    x = torch.randint(-9, 9, (8, 32), generator=rng).float()
    out = torch.empty_like(x)
    launch(kernel.cumsum_tile, (1,), x, out, AXIS=axis, M=8, N=32)
    assert torch.equal(out, x.cumsum(axis))


def test_associative_scan_with_its_own_combination(rng):
    x = torch.randn(3, 64, generator=rng)
    out = torch.empty_like(x)
    launch(kernel.running_maximum, (3,), x, out, BLOCK=64)
    assert torch.equal(out, x.cummax(1).values)


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.bfloat16, torch.int16), ids=str)
def test_sort(rng, dtype, descending):
    x = torch.randint(-500, 500, (4, 100), generator=rng).to(dtype)
    out = torch.empty_like(x)
    launch(kernel.sort_rows, (4,), x, out, DESCENDING=descending, BLOCK=100)
    assert torch.equal(out, x.sort(1, descending=descending).values)


@pytest.mark.parametrize("axis", (0, 1))
def test_flip(rng, axis):
    x = torch.randn(8, 32, generator=rng)
    out = torch.empty_like(x)
    launch(kernel.flip_tile, (1,), x, out, AXIS=axis, M=8, N=32)
    assert torch.equal(out, x.flip(axis))


def test_gather_and_scatter(rng):
    table = torch.randn(30, 70, generator=rng)
    index = torch.randint(0, 30, (13,), generator=rng)
    out = torch.empty(13, 70)
    launch(kernel.gather_rows, (13,), table, index, out, 70, BLOCK=64)
    assert torch.equal(out, table[index])
    x, order = torch.randn(200, generator=rng), torch.randperm(200, generator=rng).int()
    picked, placed = torch.empty(200), torch.empty(200)
    launch(kernel.gather_elements, (2,), x, order, picked, 200, BLOCK=128)
    launch(kernel.scatter_elements, (2,), x, order, placed, 200, BLOCK=128)
    assert torch.equal(picked, x[order])
    assert torch.equal(placed, torch.empty(200).scatter_(0, order.long(), x))
    tile, chosen = torch.randn(8, 16, generator=rng), torch.randint(0, 16, (8, 16), generator=rng).int()
    taken = torch.empty_like(tile)
    launch(kernel.gather_in_register, (1,), tile, chosen, taken, M=8, N=16)
    assert torch.equal(taken, tile.gather(1, chosen.long()))


def test_scatter_add_by_atomics(rng):
    x, index = torch.randn(21, 40, generator=rng), torch.randint(0, 6, (21,), generator=rng).int()
    out = torch.zeros(6, 40)
    launch(kernel.scatter_add_rows, (21,), x, index, out, 40, ordered=False, BLOCK=64)
    close(out, torch.zeros(6, 40, dtype=torch.float64).index_add_(0, index, x.double()))


def ascend_philox_uniform(seed: int, offset: np.ndarray) -> np.ndarray:
    """Philox 4x32-10 with counter (offset, 0, 0, 0), first word mapped to [0, 1).

    triton-ascend lowers the unsigned high product to a signed one, so its stream differs from Random123's.
    """
    counter = [offset.astype(np.uint32), *(np.zeros_like(offset, dtype=np.uint32) for _ in range(3))]
    key = [np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32)]

    def product(words: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
        wide = words.view(np.int32).astype(np.int64) * (factor - (1 << 32))  # both factors have the top bit set
        return (wide & 0xFFFFFFFF).astype(np.uint32), (wide >> 32).astype(np.uint32)

    for _ in range(10):
        (low0, high0), (low2, high2) = product(counter[0], 0xD2511F53), product(counter[2], 0xCD9E8D57)
        counter = [high2 ^ counter[1] ^ key[0], low2, high0 ^ counter[3] ^ key[1], low0]
        key = [
            np.uint32((int(key[0]) + 0x9E3779B9) & 0xFFFFFFFF),
            np.uint32((int(key[1]) + 0xBB67AE85) & 0xFFFFFFFF),
        ]
    signed = counter[0].view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def test_dropout_by_seed(rng):
    n, probability, seed = 1000, 0.4, 1234
    x, out = torch.randn(n, generator=rng), torch.empty(n)
    launch(kernel.dropout, (4,), x, out, n, probability, seed, BLOCK=256)
    keep = torch.from_numpy(ascend_philox_uniform(seed, np.arange(n)) > np.float32(probability))
    assert 0.5 < keep.float().mean() < 0.7
    close(out, torch.where(keep, x / (1 - probability), 0.0))


def test_every_configuration_of_an_autotuned_kernel(rng):
    x, y = torch.randn(1000, generator=rng), torch.randn(1000, generator=rng)
    for config in kernel.add_tuned.configs:
        out, block = torch.empty(1000), config.kwargs["BLOCK"]
        launch(kernel.add_tuned.fn, (-(-1000 // block),), x, y, out, 1000, **config.all_kwargs())
        assert torch.equal(out, x + y)


def test_histogram(rng):
    x = torch.randint(0, 16, (256,), generator=rng).int()
    out = torch.empty(16, dtype=torch.int32)
    launch(kernel.histogram, (1,), x, out, 256, BINS=16, BLOCK=256)
    assert torch.equal(out.long(), torch.bincount(x, minlength=16))
