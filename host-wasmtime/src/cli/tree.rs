//! Trees of lines, and the devices of a claim as their leaves.

use apportion_core::ask::AllocatedDevice;

use super::pen::{Ink, Pen};
use super::text::{and, clean, columns, pad};

/// Hangs blocks of lines below a line, as the branches of a tree.
pub(crate) fn hang(blocks: Vec<Vec<String>>, pen: Pen) -> Vec<String> {
    let count = blocks.len();
    let mut lines = Vec::new();
    for (index, block) in blocks.into_iter().enumerate() {
        let (first, further) = pen.branch(index.saturating_add(1) == count);
        for (row, line) in block.into_iter().enumerate() {
            let lead = pen.paint(Ink::Faint, if row == 0 { first } else { further });
            lines.push(format!("{lead}{line}"));
        }
    }
    lines
}

/// One line per device: request, driver/pool/device, and what is special about it.
pub(crate) fn device_lines<'d>(devices: impl Iterator<Item = &'d AllocatedDevice> + Clone, pen: Pen) -> Vec<String> {
    let width = devices.clone().map(|device| columns(&device.request)).max().unwrap_or_default();
    devices
        .map(|device| {
            let id = format!("{}/{}/{}", device.driver, device.pool, device.device);
            let mut line = format!("{}  {}", pad(&clean(&device.request), width), pen.paint(Ink::Device, &clean(&id)));
            let mut remarks = Vec::new();
            let taken = device.consumed_capacity.iter().filter(|(_, amount)| *amount != "0");
            let parts: Vec<String> = taken.map(|(name, amount)| format!("{amount} of {name}")).collect();
            if !parts.is_empty() {
                remarks.push(format!("takes {}", and(&parts)));
            } else if device.share_id.is_some() {
                remarks.push("a share".to_owned());
            }
            if device.admin_access {
                remarks.push("admin access".to_owned());
            }
            if !remarks.is_empty() {
                line.push_str(&format!("  {}", clean(&remarks.join("; "))));
            }
            line
        })
        .collect()
}
