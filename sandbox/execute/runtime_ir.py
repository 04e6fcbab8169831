"""LLVM IR that every native kernel links against: local memory, copies, conversions, fault capture.

Local memory is an arena: `malloc` without `free` is what bufferised kernels do, the arena is reset before every
program of a grid, and a kernel that exceeds its limit gets an address that faults (and `exhausted` is set).
"""

from __future__ import annotations

import mmap

LENIENT_REGIONS = 512  # guards that open on demand, two for each tensor
OPENED_PAGES = 16384  # beyond that many, a fault is a fault
# Kernel-local memory that was never written holds this pattern: NaN in every float type, -1 in every integer type.
ARENA_POISON = -1  # of every byte

RUNTIME_IR = r"""
%arena_t = type { ptr, i64, i64, i64 }   ; base, next offset, limit, exhausted
@atrl_arena = global %arena_t zeroinitializer
@atrl_jump = global [64 x i64] zeroinitializer, align 64   ; sigjmp_buf: 200 bytes on x86-64, 312 on aarch64
@atrl_fault = global [2 x i64] zeroinitializer             ; address, signal

define noalias ptr @atrl_alloc(i64 %bytes) noinline nounwind {
  %offset_p = getelementptr %arena_t, ptr @atrl_arena, i32 0, i32 1
  %limit_p = getelementptr %arena_t, ptr @atrl_arena, i32 0, i32 2
  %offset = load i64, ptr %offset_p
  %limit = load i64, ptr %limit_p
  %padded = add i64 %bytes, 127
  %size = and i64 %padded, -64
  %end = add i64 %offset, %size
  %fits_end = icmp ule i64 %end, %limit
  %fits_size = icmp ule i64 %bytes, %limit
  %fits = and i1 %fits_end, %fits_size
  br i1 %fits, label %ok, label %full
ok:
  store i64 %end, ptr %offset_p
  %base = load ptr, ptr @atrl_arena
  %p = getelementptr i8, ptr %base, i64 %offset
  call void @llvm.memset.p0.i64(ptr %p, i8 @POISON@, i64 %size, i1 false)
  ret ptr %p
full:
  %flag_p = getelementptr %arena_t, ptr @atrl_arena, i32 0, i32 3
  store i64 1, ptr %flag_p
  ret ptr inttoptr (i64 64 to ptr)
}

define void @atrl_reset() noinline nounwind {
  %offset_p = getelementptr %arena_t, ptr @atrl_arena, i32 0, i32 1
  store i64 0, ptr %offset_p
  ret void
}

; ---- memrefCopy(element size, unranked source, unranked destination)
; unranked = { i64 rank, ptr descriptor }, descriptor = { ptr, ptr aligned, i64 offset, i64 sizes[rank], strides[rank] }

define void @memrefCopy(i64 %elem, ptr %src, ptr %dst) nounwind {
  %rank = load i64, ptr %src
  %sd_p = getelementptr i8, ptr %src, i64 8
  %dd_p = getelementptr i8, ptr %dst, i64 8
  %sd = load ptr, ptr %sd_p
  %dd = load ptr, ptr %dd_p
  %sa_p = getelementptr i8, ptr %sd, i64 8
  %da_p = getelementptr i8, ptr %dd, i64 8
  %sa = load ptr, ptr %sa_p
  %da = load ptr, ptr %da_p
  %so_p = getelementptr i8, ptr %sd, i64 16
  %do_p = getelementptr i8, ptr %dd, i64 16
  %so = load i64, ptr %so_p
  %do = load i64, ptr %do_p
  %sob = mul i64 %so, %elem
  %dob = mul i64 %do, %elem
  %s = getelementptr i8, ptr %sa, i64 %sob
  %d = getelementptr i8, ptr %da, i64 %dob
  %sizes = getelementptr i8, ptr %sd, i64 24
  %skip = shl i64 %rank, 3
  %sst = getelementptr i8, ptr %sizes, i64 %skip
  %dsizes = getelementptr i8, ptr %dd, i64 24
  %dst_strides = getelementptr i8, ptr %dsizes, i64 %skip
  call void @atrl_copy(i64 %elem, i64 %rank, ptr %sizes, ptr %sst, ptr %dst_strides, ptr %s, ptr %d)
  ret void
}

define internal void @atrl_copy(i64 %elem, i64 %rank, ptr %sizes, ptr %sst, ptr %dst, ptr %s, ptr %d) nounwind {
entry:
  %scalar = icmp eq i64 %rank, 0
  br i1 %scalar, label %one, label %dims
one:
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %elem, i1 false)
  ret void
dims:
  %n = load i64, ptr %sizes
  %ss = load i64, ptr %sst
  %ds = load i64, ptr %dst
  %last = icmp eq i64 %rank, 1
  br i1 %last, label %row, label %outer
row:
  %su = icmp eq i64 %ss, 1
  %du = icmp eq i64 %ds, 1
  %dense = and i1 %su, %du
  br i1 %dense, label %block, label %strided
block:
  %bytes = mul i64 %n, %elem
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %bytes, i1 false)
  ret void
strided:
  switch i64 %elem, label %other [ i64 1, label %e1
                                   i64 2, label %e2
                                   i64 4, label %e4
                                   i64 8, label %e8 ]
e1:
  call void @atrl_row_i8(i64 %n, i64 %ss, i64 %ds, ptr %s, ptr %d)
  ret void
e2:
  call void @atrl_row_i16(i64 %n, i64 %ss, i64 %ds, ptr %s, ptr %d)
  ret void
e4:
  call void @atrl_row_i32(i64 %n, i64 %ss, i64 %ds, ptr %s, ptr %d)
  ret void
e8:
  call void @atrl_row_i64(i64 %n, i64 %ss, i64 %ds, ptr %s, ptr %d)
  ret void
other:
  br label %outer
outer:
  %rank1 = sub i64 %rank, 1
  %sizes1 = getelementptr i8, ptr %sizes, i64 8
  %sst1 = getelementptr i8, ptr %sst, i64 8
  %dst1 = getelementptr i8, ptr %dst, i64 8
  %sstep = mul i64 %ss, %elem
  %dstep = mul i64 %ds, %elem
  br label %loop
loop:
  %i = phi i64 [ 0, %outer ], [ %i1, %body ]
  %si = phi ptr [ %s, %outer ], [ %sn, %body ]
  %di = phi ptr [ %d, %outer ], [ %dn, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  call void @atrl_copy(i64 %elem, i64 %rank1, ptr %sizes1, ptr %sst1, ptr %dst1, ptr %si, ptr %di)
  %i1 = add i64 %i, 1
  %sn = getelementptr i8, ptr %si, i64 %sstep
  %dn = getelementptr i8, ptr %di, i64 %dstep
  br label %loop
done:
  ret void
}
@ROWS@

; ---- float32 and float64 to bfloat16, round to nearest even; called where the backend has no instruction
define bfloat @__truncsfbf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %isnan = fcmp uno float %x, 0.0
  %quiet = or i32 %bits, 4194304
  %odd = lshr i32 %bits, 16
  %lsb = and i32 %odd, 1
  %bias = add i32 %lsb, 32767
  %rounded = add i32 %bits, %bias
  %chosen = select i1 %isnan, i32 %quiet, i32 %rounded
  %high = lshr i32 %chosen, 16
  %half = trunc i32 %high to i16
  %r = bitcast i16 %half to bfloat
  ret bfloat %r
}
define bfloat @__truncdfbf2(double %x) nounwind {
  %f = fptrunc double %x to float
  %r = call bfloat @__truncsfbf2(float %f)
  ret bfloat %r
}

; ---- faults: run an entry point; a fault inside comes back as its signal number, its address in @atrl_fault
declare i32 @__sigsetjmp(ptr, i32) returns_twice
declare void @siglongjmp(ptr, i32) noreturn

define i32 @atrl_guarded_call(ptr %entry, ptr %args, ptr %grid) noinline nounwind {
  %r = call i32 @__sigsetjmp(ptr @atrl_jump, i32 1) returns_twice
  %first = icmp eq i32 %r, 0
  br i1 %first, label %run, label %faulted
run:
  call void %entry(ptr %args, ptr %grid)
  ret i32 0
faulted:
  ret i32 %r
}

; A fault in a lenient region opens the page, filled with the region's poison, and the instruction runs again.
@atrl_lenient = global [@REGIONS@ x [3 x i64]] zeroinitializer   ; low, high, poison byte
@atrl_lenient_count = global i64 0
@atrl_opened = global [@PAGES@ x i64] zeroinitializer            ; addresses of opened pages
@atrl_opened_count = global i64 0
declare i32 @mprotect(ptr, i64, i32)

define void @atrl_on_fault(i32 %signal, ptr %info, ptr %context) nounwind {
entry:
  %address_p = getelementptr i8, ptr %info, i64 16
  %address = load i64, ptr %address_p
  %segv = icmp eq i32 %signal, 11
  %known = load i64, ptr @atrl_lenient_count
  %count = select i1 %segv, i64 %known, i64 0
  br label %search
search:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %compare, label %leave
compare:
  %low_p = getelementptr [3 x i64], ptr @atrl_lenient, i64 %i
  %high_p = getelementptr i64, ptr %low_p, i64 1
  %poison_p = getelementptr i64, ptr %low_p, i64 2
  %low = load i64, ptr %low_p
  %high = load i64, ptr %high_p
  %from = icmp uge i64 %address, %low
  %to = icmp ult i64 %address, %high
  %inside = and i1 %from, %to
  br i1 %inside, label %room, label %other
other:
  %next = add i64 %i, 1
  br label %search
room:
  %opened = load i64, ptr @atrl_opened_count
  %fits = icmp ult i64 %opened, @PAGES@
  br i1 %fits, label %open, label %leave
open:
  %number = and i64 %address, -@PAGE@
  %page = inttoptr i64 %number to ptr
  %status = call i32 @mprotect(ptr %page, i64 @PAGE@, i32 3)
  %poison = load i64, ptr %poison_p
  %byte = trunc i64 %poison to i8
  call void @llvm.memset.p0.i64(ptr %page, i8 %byte, i64 @PAGE@, i1 false)
  %slot = getelementptr i64, ptr @atrl_opened, i64 %opened
  store i64 %number, ptr %slot
  %now = add i64 %opened, 1
  store i64 %now, ptr @atrl_opened_count
  ret void
leave:
  store volatile i64 %address, ptr @atrl_fault
  call void @siglongjmp(ptr @atrl_jump, i32 %signal)
  unreachable
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""

_ROW = r"""
define internal void @atrl_row_TYPE(i64 %n, i64 %ss, i64 %ds, ptr %s, ptr %d) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %si = mul i64 %i, %ss
  %di = mul i64 %i, %ds
  %sp = getelementptr TYPE, ptr %s, i64 %si
  %dp = getelementptr TYPE, ptr %d, i64 %di
  %v = load TYPE, ptr %sp, align 1
  store TYPE %v, ptr %dp, align 1
  %i1 = add i64 %i, 1
  br label %loop
done:
  ret void
}
"""


def runtime_ir() -> str:
    """The complete text of the runtime module."""
    rows = "".join(_ROW.replace("TYPE", kind) for kind in ("i8", "i16", "i32", "i64"))
    text = RUNTIME_IR.replace("@ROWS@", rows).replace("@POISON@", str(ARENA_POISON))
    text = text.replace("@REGIONS@", str(LENIENT_REGIONS)).replace("@PAGES@", str(OPENED_PAGES))
    return text.replace("@PAGE@", str(mmap.PAGESIZE))
