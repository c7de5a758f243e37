//! What rules would have done with recorded traffic.

pub mod logs;
