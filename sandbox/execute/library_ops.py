"""Operations of hfusion that no upstream pass lowers, replaced by calls of MLIR functions: histograms, casts."""

from __future__ import annotations

import re

from sandbox.execute.library_tensors import NoBody, Tensor, flatten, result


def histograms(text: str) -> tuple[str, str]:
    """Replace `hfusion.histogram` operations by calls, and return the functions they call.

    Values outside of [0, bins) are not counted; with a mask, only selected elements are.
    """
    functions: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        result, value, bins, mask, source_type, target_type = match.groups()
        source, target = Tensor.parse(source_type.split(",")[0]), Tensor.parse(target_type)
        masked = mask is not None
        name = f"atrl_histogram_{len(functions)}"
        functions[name] = _histogram(name, source, target, int(bins), masked)
        values = f"{value}, {mask}" if masked else value
        kinds = f"{source.type}, {Tensor(source.shape, 'i1').type}" if masked else source.type
        return f"{result} = func.call @{name}({values}) : ({kinds}) -> {target.type}"

    text = re.sub(
        r"(%\w+) = hfusion\.histogram (%\w+), (\d+)(?:,? mask[ =]*(%\w+))?"
        r" : (tensor<[^>]*>(?:, tensor<[^>]*>)?) -> (\S+)",
        replace,
        text,
    )
    return text, "".join(functions.values())


def _histogram(name: str, source: Tensor, target: Tensor, bins: int, masked: bool) -> str:
    mask = Tensor(source.shape, "i1")
    parameters = f"%p0: {source.type}" + (f", %p1: {mask.type}" if masked else "")
    selected = f"%chosen = tensor.extract %m[%e] : {mask.flat}" if masked else "%chosen = arith.constant true"
    return f"""  func.func private @{name}({parameters}) -> {target.type} {{
{flatten("%p0", "%x", source)}
{flatten("%p1", "%m", mask) if masked else ""}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %total = arith.constant {source.size} : index
    %bins = arith.constant {bins} : index
    %zero = arith.constant 0 : {target.element}
    %one = arith.constant 1 : {target.element}
    %out = memref.alloc() : {target.buffer}
    scf.for %e = %c0 to %bins step %c1 {{
      memref.store %zero, %out[%e] : {target.buffer}
    }}
    scf.for %e = %c0 to %total step %c1 {{
      %v = tensor.extract %x[%e] : {source.flat}
      %at = arith.index_cast %v : {source.element} to index
      {selected}
      %fits = arith.cmpi ult, %at, %bins : index
      %count = arith.andi %fits, %chosen : i1
      scf.if %count {{
        %old = memref.load %out[%at] : {target.buffer}
        %new = arith.addi %old, %one : {target.element}
        memref.store %new, %out[%at] : {target.buffer}
      }}
    }}
{result(target)}
  }}
"""


def rounding_casts(text: str) -> tuple[str, str]:
    """Replace `hfusion.cast` operations, whose rounding mode the upstream passes would drop, by calls.

    Raises:
        NoBody: a mode or types other than float32 to a half type, rounding toward zero.
    """
    functions: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        result, attributes, value, source_type, target_type = match.groups()
        source, target = Tensor.parse(source_type), Tensor.parse(target_type)
        mode = re.search(r"round_mode<(\w+)>", attributes)
        if mode is None or mode[1] != "trunc" or source.element != "f32" or target.element not in ("f16", "bf16"):
            raise NoBody(f"no native version of hfusion.cast {attributes} from {source.element} to {target.element}")
        name = f"atrl_cast_{len(functions)}"
        functions[name] = _cast_toward_zero(name, source, target)
        return f"{result} = func.call @{name}({value}) : ({source.type}) -> {target.type}"

    text = re.sub(
        r"(%\w+) = hfusion\.cast (\{[^}]*\}) ins\((%\w+) : (tensor<[^>]*>)\) outs\([^)]*\) -> (tensor<[^>]*>)",
        replace,
        text,
    )
    if "hfusion.cast" in text:
        raise NoBody("no native version of this form of hfusion.cast")
    return text, "".join(functions.values())


def _cast_toward_zero(name: str, source: Tensor, target: Tensor) -> str:
    """Round to nearest, then step back where that went away from zero (infinity becomes the largest finite value)."""
    half = target.element
    return f"""  func.func private @{name}(%p0: {source.type}) -> {target.type} {{
{flatten("%p0", "%x", source)}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %total = arith.constant {source.size} : index
    %step = arith.constant 1 : i16
    %out = memref.alloc() : {target.buffer}
    scf.for %e = %c0 to %total step %c1 {{
      %v = tensor.extract %x[%e] : {source.flat}
      %near = arith.truncf %v : f32 to {half}
      %back = arith.extf %near : {half} to f32
      %size = math.absf %back : f32
      %limit = math.absf %v : f32
      %beyond = arith.cmpf ogt, %size, %limit : f32
      %bits = arith.bitcast %near : {half} to i16
      %less = arith.subi %bits, %step : i16
      %chosen = arith.select %beyond, %less, %bits : i16
      %w = arith.bitcast %chosen : i16 to {half}
      memref.store %w, %out[%e] : {target.buffer}
    }}
{result(target)}
  }}
"""
