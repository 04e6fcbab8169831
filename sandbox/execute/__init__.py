"""Executing kernels without an NPU: machine code of the Ascend-lowered module, or Triton's interpreter."""
