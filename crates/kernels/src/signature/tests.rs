//! Parameters, types and names of C texts.

use super::directives::declares;
use super::*;

fn types(text: &str, kernel: &str) -> Vec<(String, AddressSpace, Option<ValueType>)> {
    let all = CSource::new(text, &[]).parameters(kernel).unwrap();
    all.into_iter().map(|parameter| (parameter.name, parameter.space, parameter.value_type)).collect()
}

#[test]
fn parameters_have_space_type_and_name() {
    let text = "
        // __kernel void other(int a)
        #define REAL float
        typedef unsigned int u32;
        typedef struct { float x, y; int id[2]; double mass; } Body;
        __kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
        step(__global const REAL * restrict in, global float4 out[], __constant u32 *table, local float *tile,
             const unsigned int n, float3 shift, size_t m, __global struct Body *bodies, Body one,
             __read_only image2d_t image, sampler_t s, T alpha, unknown_t u) {}
        kernel void last(void) {}";
    let f32 = |lanes| Some(ValueType::Number(Scalar::F32, lanes));
    let u32 = Some(ValueType::Number(Scalar::U32, 1));
    let all = types(text, "step");
    let spaces: Vec<AddressSpace> = all.iter().map(|(_, space, _)| *space).collect();
    use AddressSpace::{Constant, Global, Image, Local, Sampler, Value};
    assert_eq!(
        spaces,
        [Global, Global, Constant, Local, Value, Value, Value, Global, Value, Image, Sampler, Value, Value]
    );
    let of: Vec<Option<ValueType>> = all.iter().map(|(.., of)| of.clone()).collect();
    assert_eq!(of[..3], [f32(1), f32(4), u32.clone()]);
    assert_eq!(of[3..5], [f32(1), u32]);
    assert_eq!(of[5..7], [Some(vector_of_three(Scalar::F32)), Some(ValueType::Number(Scalar::U64, 1))]);
    let Some(ValueType::Struct(body)) = &of[8] else { panic!("{:?}", of[8]) };
    assert_eq!((body.size, body.fields.len()), (24, 5));
    let names: Vec<(&str, usize)> = body.fields.iter().map(|field| (field.name.as_str(), field.at)).collect();
    assert_eq!(names, [("x", 0), ("y", 4), ("id_0", 8), ("id_1", 12), ("mass", 16)]);
    assert_eq!((&of[11], &of[12]), (&Some(ValueType::Case), &None));
    assert_eq!(all[1].0, "out");
    let source = CSource::new(text, &[]);
    assert_eq!(source.kernels(), ["step", "last"]);
    assert_eq!(source.parameters("last"), Some(Vec::new()));
    assert!(source.parameters("step").unwrap()[0].is_const);
    assert_eq!(source.parameters("other"), None);
}

#[test]
fn conditionals_choose_among_twins() {
    let text =
        "#ifdef DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\nkernel void k(global real *x) {}";
    let of = |defines: &[(String, String)]| {
        CSource::new(text, defines).parameters("k").unwrap()[0].value_type.clone().unwrap()
    };
    assert_eq!(of(&[]), ValueType::Number(Scalar::F32, 1));
    assert_eq!(of(&[("DOUBLE".into(), "1".into())]), ValueType::Number(Scalar::F64, 1));
    let given = CSource::new("kernel void k(global real *x) {}", &[("real".into(), "short".into())]);
    assert_eq!(given.parameters("k").unwrap()[0].value_type, Some(ValueType::Number(Scalar::I16, 1)));
}

#[test]
fn structs_are_aligned_as_in_c() {
    let struct_of = |text: &str| match CSource::new(text, &[]).value_type("S") {
        Some(ValueType::Struct(layout)) => layout,
        other => panic!("{other:?}"),
    };
    assert_eq!(struct_of("struct S { char c; double d; short s; };").size, 24);
    assert_eq!(struct_of("typedef struct __attribute__((packed)) { char c; int i; } S;").size, 8, "before it");
    assert_eq!(struct_of("typedef struct { char c; int i; } __attribute__((packed)) S;").size, 5);
    let nested = struct_of("typedef struct P { float2 p; } P; typedef struct { char c; P p[2]; } S;");
    assert_eq!((nested.fields[1].at, nested.size), (8, 24), "a struct is aligned as its vectors are");
    let of_three = struct_of("struct S { char c; float3 p; int k; };");
    let places: Vec<(&str, usize)> = of_three.fields.iter().map(|field| (field.name.as_str(), field.at)).collect();
    assert_eq!(places, [("c", 0), ("p_0", 16), ("p_1", 20), ("p_2", 24), ("k", 32)]);
    assert_eq!(layout_of_letters("ffi").unwrap().size, 12);
    assert_eq!(layout_of_letters("b 2d").unwrap().fields[2].at, 16);
    assert!(layout_of_letters("fx").unwrap_err().contains("'x'"));
    assert!(layout_of_letters("99999f").is_err() && layout_of_letters("").is_err());
}

#[test]
fn any_text_is_taken() {
    for text in [
        "",
        "kernel",
        "kernel void",
        "kernel void k(",
        "typedef struct {",
        "#if\n#else\n#endif\n#endif",
        "#define X X\nkernel void k(X a){}",
    ] {
        let source = CSource::new(text, &[]);
        let _ = (source.kernels(), source.parameters("k"), source.value_type("X"));
    }
}

#[test]
fn names_that_a_text_declares_are_its_own() {
    for (text, name, is_own) in [
        ("__global const T *x; T y; (T)z; return T(1);", "T", false),
        ("float T = 1;", "T", true),
        ("typedef float T;", "T", true),
        ("#define T float", "T", true),
        ("#define TILE 4\nT x;", "T", false),
        ("const int WG = 64;", "WG", true),
        ("x[WG]; for (s = WG / 2;;)", "WG", false),
        ("// float T\nT x;", "T", false),
    ] {
        assert_eq!(declares(text, name), is_own, "{text}");
    }
}

#[test]
fn what_somebody_else_defines_is_left_out() {
    let text = "#define WIDTH 4096\n# define N(x) x\n#define WIDTHS 2\nint x = WIDTH;\n";
    let kept = "\n# define N(x) x\n#define WIDTHS 2\nint x = WIDTH;\n";
    assert_eq!(without_definitions(text, |name| ["WIDTH", "N"].contains(&name)), kept);
}

#[test]
fn what_a_kernel_does_with_its_pointers_is_seen() {
    let text = "kernel void k(global float *a, global float *b, global int *c, global float *d, global float *e) {
        if (a[i] == b[i + 1]) b[a[0]] = 2; c[i].x += 1; atomic_inc(&d[c[2]]); vstore4(v, 0, e); e[i] <<= 1; *f = 2; }";
    let source = CSource::new(text, &[]);
    let of = |name: &str| source.usage("k", name);
    assert_eq!(of("a"), Usage { is_read: true, ..Usage::default() });
    assert_eq!(of("b"), Usage { is_read: true, is_written: true, ..Usage::default() });
    assert_eq!(of("c"), Usage { is_read: true, is_updated: true, ..Usage::default() });
    assert_eq!(of("d"), Usage { is_accumulated: true, ..Usage::default() });
    assert!(of("e").is_handed_on);
    assert_eq!(of("f"), Usage { is_written: true, ..Usage::default() });
}

#[test]
fn what_only_the_host_knows_is_named() {
    let text = "#define TILE 16\n#define SIZE (TILE * block_y)\n#if vector == 2\ntypedef float2 vec;\n#elif vector == 4\n\
                typedef float4 vec;\n#endif\n#ifdef SINGLE\n#define REAL float\n#elif DOUBLE\n#define REAL double\n#endif\n\
                enum { RED, GREEN };\ntypedef struct { float lat, lng; } place;\n\
                __kernel __attribute__((reqd_work_group_size(TILE, TILE / 2, 1))) void k(global float *a, float A0,\n\
                __constant TYPE * restrict b, TYPE c, global REAL *d) {\n#pragma unroll steps\n\
                for (int i = 0, *j = 0; i < SIZE; i++) { local float t[TILE * BLOCK]; a[i] = t[*j] * INFINITY + FLT_MAX\n\
                + MAX(1, BLOCK) + M_PI_F + A0 + RED + 1.0f + 0x1F; }\nconst place *p = 0, q; a[0] = p->lat; \
                printf(\"%d words\", c); b * factor; }";
    let source = CSource::new(text, &[]);
    let names = source.host_names();
    assert_eq!(names.unset, ["TYPE", "block_y", "BLOCK", "factor", "vector", "steps"]);
    assert_eq!(names.choices, ["DOUBLE", "SINGLE"]);
    assert_eq!(source.required_group("k").unwrap(), ["16", "16 / 2", "1"]);
    let single = CSource::new(text, &[("SINGLE".into(), "1".into())]);
    assert!(single.host_names().choices.is_empty());
}
