//! Figures as tables and as pictures. What is shown depends on the rows alone.

pub mod axis;
pub mod compare;
pub mod labels;
pub mod lines;
pub mod plot;
pub mod svg;
pub mod table;
