//! The isl functions we call, declared by hand against the static library that `isl-rs` builds; no Rust item
//! of `isl-rs` is used. `Take` is `__isl_take` (ownership moves to isl), `Keep` is `__isl_keep` (borrowed),
//! `Give` is `__isl_give` (ours to free). A null `Take` or `Keep` makes isl free the other arguments and fail;
//! only the context must not be null.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong};
use std::marker::PhantomData;

// Links libisl.a.
extern crate isl_rs as _;

// isl passes integers as `long`; everything here counts on the 64 bits of the systems that isl-rs builds on.
const _: () = assert!(size_of::<c_long>() == size_of::<i64>());

pub type Take<T> = *mut T;
pub type Keep<T> = *mut T;
pub type Give<T> = *mut T;
/// `isl_bool`: -1 error, 0 false, 1 true. An `int` because C enums may hold other values.
pub type isl_bool = c_int;
/// `isl_size`: -1 error.
pub type isl_size = c_int;
/// `isl_stat`: -1 error, 0 fine.
pub type isl_stat = c_int;
/// `enum isl_dim_type`.
pub type isl_dim_type = c_uint;

macro_rules! opaque {
    ($($name:ident),* $(,)?) => { $(
        #[repr(C)]
        pub struct $name {
            _data: [u8; 0],
            _not_send: PhantomData<*mut ()>,
        }
    )* };
}

opaque!(
    isl_ctx,
    isl_val,
    isl_point,
    isl_space,
    isl_local_space,
    isl_constraint,
    isl_constraint_list,
    isl_aff,
    isl_basic_set,
    isl_basic_set_list,
    isl_set,
    isl_map,
    isl_map_list,
    isl_union_map,
    isl_union_access_info,
    isl_union_flow,
);

unsafe extern "C" {
    pub fn isl_version() -> *const c_char;

    pub fn isl_ctx_alloc() -> *mut isl_ctx;
    pub fn isl_ctx_free(ctx: *mut isl_ctx);
    #[cfg(test)]
    pub fn isl_ctx_ref(ctx: *mut isl_ctx);
    #[cfg(test)]
    pub fn isl_ctx_deref(ctx: *mut isl_ctx);
    pub fn isl_ctx_set_max_operations(ctx: *mut isl_ctx, max: c_ulong);
    pub fn isl_ctx_reset_operations(ctx: *mut isl_ctx);
    /// Internal to isl: counts one operation, or fails at the limit.
    pub fn isl_ctx_next_operation(ctx: *mut isl_ctx) -> c_int;
    pub fn isl_ctx_last_error(ctx: *mut isl_ctx) -> c_uint;
    pub fn isl_ctx_last_error_msg(ctx: *mut isl_ctx) -> *const c_char;
    pub fn isl_ctx_last_error_file(ctx: *mut isl_ctx) -> *const c_char;
    pub fn isl_ctx_last_error_line(ctx: *mut isl_ctx) -> c_int;
    pub fn isl_ctx_reset_error(ctx: *mut isl_ctx);
    pub fn isl_options_set_on_error(ctx: *mut isl_ctx, val: c_int) -> isl_stat;

    pub fn isl_val_int_from_si(ctx: *mut isl_ctx, i: c_long) -> Give<isl_val>;
    pub fn isl_val_copy(v: Keep<isl_val>) -> Give<isl_val>;
    pub fn isl_val_free(v: Take<isl_val>) -> Give<isl_val>;
    pub fn isl_val_get_num_si(v: Keep<isl_val>) -> c_long;
    pub fn isl_val_mul(a: Take<isl_val>, b: Take<isl_val>) -> Give<isl_val>;
    pub fn isl_val_is_int(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_nan(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_infty(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_neginfty(v: Keep<isl_val>) -> isl_bool;

    pub fn isl_point_copy(p: Keep<isl_point>) -> Give<isl_point>;
    pub fn isl_point_free(p: Take<isl_point>) -> Give<isl_point>;
    pub fn isl_point_is_void(p: Keep<isl_point>) -> isl_bool;
    pub fn isl_point_get_space(p: Keep<isl_point>) -> Give<isl_space>;
    pub fn isl_point_get_coordinate_val(p: Keep<isl_point>, t: isl_dim_type, pos: c_int) -> Give<isl_val>;

    pub fn isl_space_set_alloc(ctx: *mut isl_ctx, nparam: c_uint, dim: c_uint) -> Give<isl_space>;
    pub fn isl_space_copy(s: Keep<isl_space>) -> Give<isl_space>;
    pub fn isl_space_free(s: Take<isl_space>) -> Give<isl_space>;
    pub fn isl_space_dim(s: Keep<isl_space>, t: isl_dim_type) -> isl_size;
    pub fn isl_space_set_tuple_name(
        s: Take<isl_space>,
        t: isl_dim_type,
        name: *const c_char,
    ) -> Give<isl_space>;
    pub fn isl_space_has_tuple_name(s: Keep<isl_space>, t: isl_dim_type) -> isl_bool;
    pub fn isl_space_get_tuple_name(s: Keep<isl_space>, t: isl_dim_type) -> *const c_char;
    pub fn isl_space_set_dim_name(
        s: Take<isl_space>,
        t: isl_dim_type,
        pos: c_uint,
        name: *const c_char,
    ) -> Give<isl_space>;

    pub fn isl_local_space_from_space(s: Take<isl_space>) -> Give<isl_local_space>;
    pub fn isl_local_space_copy(l: Keep<isl_local_space>) -> Give<isl_local_space>;
    pub fn isl_local_space_free(l: Take<isl_local_space>) -> Give<isl_local_space>;

    pub fn isl_constraint_alloc_equality(l: Take<isl_local_space>) -> Give<isl_constraint>;
    pub fn isl_constraint_alloc_inequality(l: Take<isl_local_space>) -> Give<isl_constraint>;
    pub fn isl_constraint_free(c: Take<isl_constraint>) -> Give<isl_constraint>;
    pub fn isl_constraint_is_equality(c: Keep<isl_constraint>) -> isl_bool;
    pub fn isl_constraint_get_constant_val(c: Keep<isl_constraint>) -> Give<isl_val>;
    pub fn isl_constraint_get_coefficient_val(
        c: Keep<isl_constraint>,
        t: isl_dim_type,
        pos: c_int,
    ) -> Give<isl_val>;
    pub fn isl_constraint_dim(c: Keep<isl_constraint>, t: isl_dim_type) -> isl_size;
    pub fn isl_constraint_get_div(c: Keep<isl_constraint>, pos: c_int) -> Give<isl_aff>;
    pub fn isl_constraint_set_constant_val(c: Take<isl_constraint>, v: Take<isl_val>)
    -> Give<isl_constraint>;
    pub fn isl_constraint_set_coefficient_val(
        c: Take<isl_constraint>,
        t: isl_dim_type,
        pos: c_int,
        v: Take<isl_val>,
    ) -> Give<isl_constraint>;
    pub fn isl_constraint_list_free(l: Take<isl_constraint_list>) -> Give<isl_constraint_list>;
    pub fn isl_constraint_list_size(l: Keep<isl_constraint_list>) -> isl_size;
    pub fn isl_constraint_list_get_at(l: Keep<isl_constraint_list>, i: c_int) -> Give<isl_constraint>;

    pub fn isl_aff_val_on_domain(l: Take<isl_local_space>, v: Take<isl_val>) -> Give<isl_aff>;
    pub fn isl_aff_free(a: Take<isl_aff>) -> Give<isl_aff>;
    pub fn isl_aff_dim(a: Keep<isl_aff>, t: isl_dim_type) -> isl_size;
    pub fn isl_aff_is_nan(a: Keep<isl_aff>) -> isl_bool;
    pub fn isl_aff_get_constant_val(a: Keep<isl_aff>) -> Give<isl_val>;
    pub fn isl_aff_get_coefficient_val(a: Keep<isl_aff>, t: isl_dim_type, pos: c_int) -> Give<isl_val>;
    pub fn isl_aff_get_denominator_val(a: Keep<isl_aff>) -> Give<isl_val>;
    pub fn isl_aff_set_coefficient_val(
        a: Take<isl_aff>,
        t: isl_dim_type,
        pos: c_int,
        v: Take<isl_val>,
    ) -> Give<isl_aff>;

    pub fn isl_basic_set_copy(b: Keep<isl_basic_set>) -> Give<isl_basic_set>;
    pub fn isl_basic_set_free(b: Take<isl_basic_set>) -> Give<isl_basic_set>;
    pub fn isl_basic_set_universe(s: Take<isl_space>) -> Give<isl_basic_set>;
    pub fn isl_basic_set_add_constraint(
        b: Take<isl_basic_set>,
        c: Take<isl_constraint>,
    ) -> Give<isl_basic_set>;
    pub fn isl_basic_set_get_constraint_list(b: Keep<isl_basic_set>) -> Give<isl_constraint_list>;
    pub fn isl_basic_set_list_free(l: Take<isl_basic_set_list>) -> Give<isl_basic_set_list>;
    pub fn isl_basic_set_list_size(l: Keep<isl_basic_set_list>) -> isl_size;
    pub fn isl_basic_set_list_get_at(l: Keep<isl_basic_set_list>, i: c_int) -> Give<isl_basic_set>;

    pub fn isl_set_from_basic_set(b: Take<isl_basic_set>) -> Give<isl_set>;
    pub fn isl_set_universe(s: Take<isl_space>) -> Give<isl_set>;
    pub fn isl_set_empty(s: Take<isl_space>) -> Give<isl_set>;
    #[cfg(test)]
    pub fn isl_set_read_from_str(ctx: *mut isl_ctx, s: *const c_char) -> Give<isl_set>;
    pub fn isl_set_copy(s: Keep<isl_set>) -> Give<isl_set>;
    pub fn isl_set_free(s: Take<isl_set>) -> Give<isl_set>;
    pub fn isl_set_get_space(s: Keep<isl_set>) -> Give<isl_space>;
    pub fn isl_set_dim(s: Keep<isl_set>, t: isl_dim_type) -> isl_size;
    pub fn isl_set_intersect(a: Take<isl_set>, b: Take<isl_set>) -> Give<isl_set>;
    pub fn isl_set_union(a: Take<isl_set>, b: Take<isl_set>) -> Give<isl_set>;
    pub fn isl_set_subtract(a: Take<isl_set>, b: Take<isl_set>) -> Give<isl_set>;
    pub fn isl_set_is_empty(a: Keep<isl_set>) -> isl_bool;
    pub fn isl_set_is_subset(a: Keep<isl_set>, b: Keep<isl_set>) -> isl_bool;
    pub fn isl_set_project_out(a: Take<isl_set>, t: isl_dim_type, first: c_uint, n: c_uint) -> Give<isl_set>;
    pub fn isl_set_compute_divs(a: Take<isl_set>) -> Give<isl_set>;
    pub fn isl_set_sample_point(a: Take<isl_set>) -> Give<isl_point>;
    pub fn isl_set_max_val(a: Keep<isl_set>, obj: Keep<isl_aff>) -> Give<isl_val>;
    pub fn isl_set_min_val(a: Keep<isl_set>, obj: Keep<isl_aff>) -> Give<isl_val>;
    pub fn isl_set_get_basic_set_list(a: Keep<isl_set>) -> Give<isl_basic_set_list>;

    pub fn isl_map_from_domain_and_range(d: Take<isl_set>, r: Take<isl_set>) -> Give<isl_map>;
    pub fn isl_map_copy(m: Keep<isl_map>) -> Give<isl_map>;
    pub fn isl_map_free(m: Take<isl_map>) -> Give<isl_map>;
    pub fn isl_map_get_space(m: Keep<isl_map>) -> Give<isl_space>;
    pub fn isl_map_dim(m: Keep<isl_map>, t: isl_dim_type) -> isl_size;
    pub fn isl_map_wrap(a: Take<isl_map>) -> Give<isl_set>;
    pub fn isl_map_move_dims(
        a: Take<isl_map>,
        dst: isl_dim_type,
        dst_pos: c_uint,
        src: isl_dim_type,
        src_pos: c_uint,
        n: c_uint,
    ) -> Give<isl_map>;
    pub fn isl_map_set_tuple_name(a: Take<isl_map>, t: isl_dim_type, s: *const c_char) -> Give<isl_map>;
    pub fn isl_map_list_free(l: Take<isl_map_list>) -> Give<isl_map_list>;
    pub fn isl_map_list_size(l: Keep<isl_map_list>) -> isl_size;
    pub fn isl_map_list_get_at(l: Keep<isl_map_list>, i: c_int) -> Give<isl_map>;

    pub fn isl_union_map_from_map(m: Take<isl_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_empty_ctx(ctx: *mut isl_ctx) -> Give<isl_union_map>;
    pub fn isl_union_map_copy(u: Keep<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_free(u: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_union(a: Take<isl_union_map>, b: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_coalesce(a: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_get_map_list(u: Keep<isl_union_map>) -> Give<isl_map_list>;

    pub fn isl_union_access_info_from_sink(s: Take<isl_union_map>) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_set_must_source(
        a: Take<isl_union_access_info>,
        m: Take<isl_union_map>,
    ) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_set_may_source(
        a: Take<isl_union_access_info>,
        m: Take<isl_union_map>,
    ) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_set_schedule_map(
        a: Take<isl_union_access_info>,
        m: Take<isl_union_map>,
    ) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_compute_flow(a: Take<isl_union_access_info>) -> Give<isl_union_flow>;
    pub fn isl_union_access_info_free(a: Take<isl_union_access_info>) -> Give<isl_union_access_info>;
    pub fn isl_union_flow_free(f: Take<isl_union_flow>) -> Give<isl_union_flow>;
    pub fn isl_union_flow_get_may_dependence(f: Keep<isl_union_flow>) -> Give<isl_union_map>;
}
