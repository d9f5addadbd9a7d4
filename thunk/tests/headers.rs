//! The structures, constants and bit fields of this crate against the C headers of Debian's `libhsakmt-dev`.

#[path = "../../hsa/sys/tests/probe/mod.rs"]
mod probe;

use std::path::Path;

use hsa_sys::layout::Enumeration;
use probe::{Comparison, Scratch, Structure, structure};
use thunk::abi::*;

const INCLUDES: &str = "\
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <hsakmt.h>
";

const HEADER: &str = "/usr/include/hsakmt.h";

macro_rules! structures {
    ($($name:ident)*) => { vec![$(structure::<$name>()),*] };
}

macro_rules! enumerations {
    ($($name:ident)*) => { vec![$((<$name as Enumeration>::NAME, <$name as Enumeration>::CONSTANTS)),*] };
}

fn all_structures() -> Vec<Structure> {
    structures! {
        HsaVersionInfo HsaSystemProperties HsaNodeProperties HsaMemoryProperties HsaCacheProperties
        HsaIoLinkProperties HsaQueueResource HsaSyncVar HsaMemoryAccessFault HsaEventData HsaEventDescriptor
        HsaEvent HsaClockCounters HsaGpuTileConfig HSA_SVM_ATTRIBUTE HsaPointerInfo
    }
}

fn all_enumerations() -> Vec<(&'static str, &'static [(&'static str, u32)])> {
    enumerations! {
        HSAKMT_STATUS HSA_HEAPTYPE HSA_IOLINKTYPE HSA_QUEUE_TYPE HSA_EVENTTYPE HSA_EVENTID_MEMORYFLAGS
        HSA_SVM_ATTR_TYPE HSA_POINTER_TYPE
    }
}

/// Whether the headers are here; fails if they must be.
fn headers_are_installed() -> bool {
    if Path::new(HEADER).exists() {
        return true;
    }
    let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| value == "1");
    assert!(!required, "{HEADER} is missing (Debian package libhsakmt-dev)");
    eprintln!("skipped: {HEADER} is missing (Debian package libhsakmt-dev)");
    false
}

#[test]
fn structures_constants_and_bit_fields_equal_the_headers() {
    if !headers_are_installed() {
        return;
    }
    let scratch = Scratch::new("thunk-layouts");
    let mut comparison = Comparison::default();
    for structure in all_structures() {
        let name = structure.name;
        comparison.check(&format!("size of {name}"), &format!("sizeof({name})"), structure.size as i64);
        comparison.check(
            &format!("alignment of {name}"),
            &format!("_Alignof({name})"),
            structure.align as i64,
        );
        for field in structure.fields {
            // Rust reserves `type`.
            let member = field.name.trim_start_matches("r#");
            let what = format!("{name}.{member}");
            comparison.check(
                &format!("offset of {what}"),
                &format!("offsetof({name}, {member})"),
                field.offset as i64,
            );
            let size = format!("sizeof((({name} *)0)->{member})");
            comparison.check(&format!("size of {what}"), &size, field.size as i64);
        }
    }
    for (name, constants) in all_enumerations() {
        comparison.check(&format!("size of {name}"), &format!("sizeof({name})"), 4);
        for (constant, value) in constants {
            comparison.check(constant, &format!("(uint32_t){constant}"), i64::from(*value));
        }
    }
    for bits in BIT_FIELDS {
        let Bits { structure, member, whole, mask } = bits;
        let expression =
            format!("({{ {structure} x; memset(&x, 0, sizeof x); x.{member} = -1; x.{whole}; }})");
        comparison.check(&format!("{structure}.{member}"), &expression, *mask as i64);
    }
    let failures = [
        ("NotPresent", failure::NOT_PRESENT),
        ("ReadOnly", failure::READ_ONLY),
        ("NoExecute", failure::NO_EXECUTE),
    ];
    for (member, mask) in failures {
        let expression = format!(
            "({{ HsaAccessAttributeFailure x; uint32_t y; memset(&x, 0, sizeof x); x.{member} = 1; \
             memcpy(&y, &x, sizeof y); y; }})"
        );
        comparison.check(member, &expression, mask.into());
    }
    comparison.check("HSA_PUBLIC_NAME_SIZE", "HSA_PUBLIC_NAME_SIZE", HSA_PUBLIC_NAME_SIZE as i64);
    let infinite = "(uint32_t)HSA_EVENTTIMEOUT_INFINITE";
    comparison.check("HSA_EVENTTIMEOUT_INFINITE", infinite, HSA_EVENTTIMEOUT_INFINITE.into());
    assert!(comparison.count > 300, "only {} facts were compared", comparison.count);
    assert_eq!(comparison.run(&scratch, INCLUDES), "");
}

/// The header of ours, which tools include.
#[test]
fn counters_are_what_our_own_header_says() {
    let scratch = Scratch::new("thunk-counters");
    let mut comparison = Comparison::default();
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/aqlipse_thunk.h");
    let counters = structure::<thunk::api::counters::aqlipse_thunk_counters_t>();
    comparison.check("size", "sizeof(aqlipse_thunk_counters_t)", counters.size as i64);
    for field in counters.fields {
        let offset = format!("offsetof(aqlipse_thunk_counters_t, {})", field.name);
        comparison.check(field.name, &offset, field.offset as i64);
    }
    let includes = format!("#include <stddef.h>\n#include <stdio.h>\n#include \"{}\"\n", header.display());
    assert_eq!(comparison.run(&scratch, &includes), "");
}
