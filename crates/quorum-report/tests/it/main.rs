//! What every format has to keep to, whatever a finding says.

mod hostile;
mod properties;
mod readback;
mod sample;
mod snapshots;
