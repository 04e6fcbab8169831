#map = affine_map<()[s0, s1] -> (s1, s0)>
#map1 = affine_map<()[s0, s1] -> (s1 + 128, s0)>
#map2 = affine_map<()[s0, s1] -> (128, s0 - s1)>
#map3 = affine_map<()[s0] -> ((s0 floordiv 64) mod 2)>
#map4 = affine_map<()[s0] -> (s0 floordiv 64)>
#map5 = affine_map<()[s0, s1, s2] -> (s0 + s1 * s2)>
#map6 = affine_map<()[s0, s1] -> (s1 + 64, s0)>
#map7 = affine_map<()[s0, s1] -> (64, s0 - s1)>
#map8 = affine_map<()[s0] -> ((s0 + 15) floordiv 16)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"NPU" : #hacc.target_device_spec<#dlti.dl_entry<"AI_CORE_COUNT", 20 : i32>, #dlti.dl_entry<"CUBE_CORE_COUNT", 20 : i32>, #dlti.dl_entry<"VECTOR_CORE_COUNT", 40 : i32>, #dlti.dl_entry<"UB_SIZE", 1572864 : i32>, #dlti.dl_entry<"L1_SIZE", 4194304 : i32>, #dlti.dl_entry<"L0A_SIZE", 524288 : i32>, #dlti.dl_entry<"L0B_SIZE", 524288 : i32>, #dlti.dl_entry<"L0C_SIZE", 1048576 : i32>, #dlti.dl_entry<"UB_ALIGN_SIZE", 256 : i32>, #dlti.dl_entry<"L1_ALIGN_SIZE", 256 : i32>, #dlti.dl_entry<"L0C_ALIGN_SIZE", 4096 : i32>>>, hacc.hivmc_compatible_print = true, hacc.hivmc_version = #hacc.hivmc_version<"0.0.0">, hivm.module_core_type = #hivm.module_core_type<AIC>} {
  func.func @mm_infer_task_type_function() -> i8 attributes {hacc.function_kind = #hacc.function_kind<HOST>, hacc.host_func_type = #hacc.host_func_type<infer_task_type_function>} {
    %c20_i8 = arith.constant 20 : i8
    return %c20_i8 : i8
  }
  func.func private @set_l1_2d_half(f16, memref<?xf16, strided<[?], offset: ?>, #hivm.address_space<cbuf>>) attributes {hacc.always_inline, hivm.func_core_type = #hivm.func_core_type<AIC>, llvm.emit_c_interface}
  func.func private @nd2nz_half(memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>, memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>) attributes {hacc.always_inline, hivm.func_core_type = #hivm.func_core_type<AIC>, llvm.emit_c_interface}
  func.func private @mma_tile_half_to_float(memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>, memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>, i1, index, index, index, memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cc>>, i64, i64, i64, i64, i64, i64, i64, i8) attributes {hacc.always_inline, hivm.func_core_type = #hivm.func_core_type<AIC>, llvm.emit_c_interface}
  func.func private @fixpipe_nz2nd_float_to_half_4d_to_2d(memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cc>>, memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>, i64, i64, i1, i8) attributes {hacc.always_inline, hivm.func_core_type = #hivm.func_core_type<AIC>, llvm.emit_c_interface}
  func.func @mm(%arg0: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}, %arg1: memref<?xi8, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<sync_block_lock>}, %arg2: memref<?xi8, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<workspace>}, %arg3: memref<?xf16, #hivm.address_space<gm>> {tt.tensor_kind = 0 : i32}, %arg4: memref<?xf16, #hivm.address_space<gm>> {tt.tensor_kind = 0 : i32}, %arg5: memref<?xf16, #hivm.address_space<gm>> {tt.tensor_kind = 1 : i32}, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32, %arg10: i32, %arg11: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, func_dyn_memref_args = dense<[false, true, true, true, true, true, false, false, false, false, false, false]> : vector<12xi1>, hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIC>, hivm.storage_aligned, parallel_mode = "simd"} {
    %false = arith.constant false
    %c0_i8 = arith.constant 0 : i8
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %cst = arith.constant 0.000000e+00 : f16
    %c1_i64 = arith.constant 1 : i64
    %c3_i64 = arith.constant 3 : i64
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c-1_i64 = arith.constant -1 : i64
    %c32768_i64 = arith.constant 32768 : i64
    %c0_i64 = arith.constant 0 : i64
    %c16384_i64 = arith.constant 16384 : i64
    %c49152_i64 = arith.constant 49152 : i64
    %0 = hivm.hir.pointer_cast(%c16384_i64) : memref<8x4x16x16xf16, #hivm.address_space<cbuf>>
    %1 = hivm.hir.pointer_cast(%c49152_i64) : memref<8x4x16x16xf16, #hivm.address_space<cbuf>>
    %2 = hivm.hir.pointer_cast(%c0_i64) : memref<4x8x16x16xf16, #hivm.address_space<cbuf>>
    %3 = hivm.hir.pointer_cast(%c32768_i64) : memref<4x8x16x16xf16, #hivm.address_space<cbuf>>
    hivm.hir.set_mask_norm
    %4 = hivm.hir.get_block_idx -> i64
    %5 = arith.trunci %4 : i64 to i32
    %6 = arith.divsi %5, %arg11 : i32
    %7 = arith.remsi %6, %arg10 : i32
    %8 = arith.muli %arg11, %arg10 : i32
    %9 = arith.divsi %5, %8 : i32
    %10 = arith.remsi %9, %arg9 : i32
    %11 = arith.muli %10, %c128_i32 : i32
    %12 = arith.muli %7, %c128_i32 : i32
    %13 = arith.index_cast %11 : i32 to index
    %14 = arith.index_cast %arg8 : i32 to index
    %15 = arith.index_cast %arg6 : i32 to index
    %16 = affine.max #map()[%13, %15]
    %17 = affine.min #map1()[%16, %13]
    %18 = affine.min #map2()[%17, %13]
    %19 = arith.cmpi slt, %18, %c128 : index
    %20 = arith.index_cast %arg7 : i32 to index
    %21 = arith.index_cast %12 : i32 to index
    %22 = affine.max #map()[%21, %20]
    %23 = affine.min #map1()[%22, %21]
    %24 = affine.min #map2()[%23, %21]
    %25 = arith.cmpi slt, %24, %c128 : index
    %26 = hivm.hir.pointer_cast(%c0_i64) : memref<8x8x16x16xf32, #hivm.address_space<cc>>
    hivm.hir.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]
    hivm.hir.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID2>]
    hivm.hir.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID3>]
    hivm.hir.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID4>]
    scf.for %arg12 = %c0_i32 to %arg8 step %c64_i32  : i32 {
      %30 = arith.index_cast %arg12 : i32 to index
      %31 = affine.apply #map3()[%30]
      %32 = arith.index_cast %31 : index to i64
      %33 = arith.cmpi eq, %32, %c1_i64 : i64
      %34 = arith.select %33, %1, %0 : memref<8x4x16x16xf16, #hivm.address_space<cbuf>>
      %35 = arith.index_cast %arg12 : i32 to index
      %36 = affine.apply #map3()[%35]
      %37 = arith.index_cast %36 : index to i64
      %38 = arith.cmpi eq, %37, %c1_i64 : i64
      %39 = arith.select %38, %3, %2 : memref<4x8x16x16xf16, #hivm.address_space<cbuf>>
      %40 = arith.index_cast %arg12 : i32 to index
      %41 = affine.apply #map4()[%40]
      %42 = arith.index_cast %41 : index to i64
      %43 = arith.index_cast %arg12 : i32 to index
      %44 = affine.apply #map3()[%43]
      %45 = arith.index_cast %44 : index to i1
      %46 = arith.select %45, %c3_i64, %c4_i64 : i64
      %47 = arith.index_cast %44 : index to i1
      %48 = arith.select %47, %c1_i64, %c2_i64 : i64
      %49 = arith.index_cast %arg12 : i32 to index
      %50 = affine.apply #map5()[%49, %13, %14]
      %reinterpret_cast_2 = memref.reinterpret_cast %arg3 to offset: [%50], sizes: [128, 64], strides: [%14, 1] : memref<?xf16, #hivm.address_space<gm>> to memref<128x64xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>>
      %51 = affine.max #map()[%49, %14]
      %52 = affine.min #map6()[%51, %49]
      %53 = affine.min #map7()[%52, %49]
      %54 = arith.cmpi slt, %53, %c64 : index
      %55 = arith.ori %19, %54 : i1
      %subview_3 = memref.subview %reinterpret_cast_2[0, 0] [%18, %53] [1, 1] : memref<128x64xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>> to memref<?x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>>
      %56 = affine.apply #map8()[%18]
      %57 = affine.apply #map8()[%53]
      %subview_4 = memref.subview %39[0, 0, 0, 0] [%57, %56, 16, 16] [1, 1, 1, 1] : memref<4x8x16x16xf16, #hivm.address_space<cbuf>> to memref<?x?x16x16xf16, strided<[2048, 256, 16, 1]>, #hivm.address_space<cbuf>>
      scf.if %55 {
        hivm.hir.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
        %collapse_shape = memref.collapse_shape %39 [[0, 1, 2, 3]] : memref<4x8x16x16xf16, #hivm.address_space<cbuf>> into memref<8192xf16, #hivm.address_space<cbuf>>
        hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
        %cast_15 = memref.cast %collapse_shape : memref<8192xf16, #hivm.address_space<cbuf>> to memref<?xf16, strided<[?], offset: ?>, #hivm.address_space<cbuf>>
        func.call @set_l1_2d_half(%cst, %cast_15) : (f16, memref<?xf16, strided<[?], offset: ?>, #hivm.address_space<cbuf>>) -> ()
        hivm.hir.pipe_barrier[<PIPE_MTE2>]
      } {hivm.unlikely_condition}
      hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, %48]
      %cast_5 = memref.cast %subview_3 : memref<?x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>> to memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>
      %cast_6 = memref.cast %subview_4 : memref<?x?x16x16xf16, strided<[2048, 256, 16, 1]>, #hivm.address_space<cbuf>> to memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>
      func.call @nd2nz_half(%cast_5, %cast_6) : (memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>, memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>) -> ()
      hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      %58 = affine.apply #map5()[%21, %49, %20]
      %reinterpret_cast_7 = memref.reinterpret_cast %arg4 to offset: [%58], sizes: [64, 128], strides: [%20, 1] : memref<?xf16, #hivm.address_space<gm>> to memref<64x128xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>>
      %59 = arith.ori %54, %25 : i1
      %subview_8 = memref.subview %reinterpret_cast_7[0, 0] [%53, %24] [1, 1] : memref<64x128xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>> to memref<?x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>>
      %60 = affine.apply #map8()[%24]
      %subview_9 = memref.subview %34[0, 0, 0, 0] [%60, %57, 16, 16] [1, 1, 1, 1] : memref<8x4x16x16xf16, #hivm.address_space<cbuf>> to memref<?x?x16x16xf16, strided<[1024, 256, 16, 1]>, #hivm.address_space<cbuf>>
      scf.if %59 {
        hivm.hir.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
        %collapse_shape = memref.collapse_shape %34 [[0, 1, 2, 3]] : memref<8x4x16x16xf16, #hivm.address_space<cbuf>> into memref<8192xf16, #hivm.address_space<cbuf>>
        hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
        %cast_15 = memref.cast %collapse_shape : memref<8192xf16, #hivm.address_space<cbuf>> to memref<?xf16, strided<[?], offset: ?>, #hivm.address_space<cbuf>>
        func.call @set_l1_2d_half(%cst, %cast_15) : (f16, memref<?xf16, strided<[?], offset: ?>, #hivm.address_space<cbuf>>) -> ()
        hivm.hir.pipe_barrier[<PIPE_MTE2>]
      } {hivm.unlikely_condition}
      hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, %46]
      %cast_10 = memref.cast %subview_8 : memref<?x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>> to memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>
      %cast_11 = memref.cast %subview_9 : memref<?x?x16x16xf16, strided<[1024, 256, 16, 1]>, #hivm.address_space<cbuf>> to memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>
      func.call @nd2nz_half(%cast_10, %cast_11) : (memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>, memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>) -> ()
      hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID1>]
      %61 = arith.cmpi eq, %arg12, %c0_i32 : i32
      %cast_12 = memref.cast %39 : memref<4x8x16x16xf16, #hivm.address_space<cbuf>> to memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>
      %cast_13 = memref.cast %34 : memref<8x4x16x16xf16, #hivm.address_space<cbuf>> to memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>
      %cast_14 = memref.cast %26 : memref<8x8x16x16xf32, #hivm.address_space<cc>> to memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cc>>
      func.call @mma_tile_half_to_float(%cast_12, %cast_13, %61, %18, %53, %24, %cast_14, %c0_i64, %c1_i64, %48, %46, %42, %c-1_i64, %c-1_i64, %c0_i8) : (memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>, memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cbuf>>, i1, index, index, index, memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cc>>, i64, i64, i64, i64, i64, i64, i64, i8) -> ()
    }
    hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]
    hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID2>]
    hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID3>]
    hivm.hir.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID4>]
    hivm.hir.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
    %27 = affine.apply #map5()[%21, %13, %20]
    %reinterpret_cast = memref.reinterpret_cast %arg5 to offset: [%27], sizes: [128, 128], strides: [%20, 1] : memref<?xf16, #hivm.address_space<gm>> to memref<128x128xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>>
    %28 = affine.apply #map8()[%18]
    %29 = affine.apply #map8()[%24]
    %subview = memref.subview %26[0, 0, 0, 0] [%29, %28, 16, 16] [1, 1, 1, 1] : memref<8x8x16x16xf32, #hivm.address_space<cc>> to memref<?x?x16x16xf32, strided<[2048, 256, 16, 1]>, #hivm.address_space<cc>>
    %subview_0 = memref.subview %reinterpret_cast[0, 0] [%18, %24] [1, 1] : memref<128x128xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>> to memref<?x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
    %cast = memref.cast %subview : memref<?x?x16x16xf32, strided<[2048, 256, 16, 1]>, #hivm.address_space<cc>> to memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cc>>
    %cast_1 = memref.cast %subview_0 : memref<?x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<gm>> to memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>
    call @fixpipe_nz2nd_float_to_half_4d_to_2d(%cast, %cast_1, %c1_i64, %c0_i64, %false, %c0_i8) : (memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>, #hivm.address_space<cc>>, memref<?x?xf16, strided<[?, ?], offset: ?>, #hivm.address_space<gm>>, i64, i64, i1, i8) -> ()
    hivm.hir.pipe_barrier[<PIPE_ALL>]
    return
  }
}


