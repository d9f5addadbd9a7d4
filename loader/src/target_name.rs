//! Reads target ids.

use std::str::FromStr;

use crate::target::Feature;
use crate::{Error, Processor, Result, TargetId};

impl FromStr for TargetId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| Error::TargetId { text: text.chars().take(256).collect() })
    }
}

fn parse(text: &str) -> Option<TargetId> {
    let mut parts = text.split(':');
    let triple = parts.next()?;
    // Generic targets have dashes in their names, so the last dash says nothing.
    let processor = match triple.rfind("-gfx") {
        Some(dash) => Processor::from_name(&triple[dash + 1..])?,
        None if triple.starts_with("gfx") => Processor::from_name(triple)?,
        None => {
            let version = triple.split('-').next()?.strip_prefix("amdgpu")?;
            Processor::from_name(&format!("gfx{}", version.replace('.', "")))?
        }
    };
    let mut id = TargetId::new(processor);
    for feature in parts {
        let (slot, known, sign) = if let Some(sign) = feature.strip_prefix("xnack") {
            (&mut id.xnack, processor.has_xnack(), sign)
        } else {
            (&mut id.sramecc, processor.has_sramecc(), feature.strip_prefix("sramecc")?)
        };
        let value = match sign {
            "+" => Feature::On,
            "-" => Feature::Off,
            _ => return None,
        };
        if !known || *slot != Feature::Any {
            return None;
        }
        *slot = value;
    }
    Some(id)
}
