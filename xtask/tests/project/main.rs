//! Rules about the project as a whole: who depends on whom, what the shared library exports, what is committed.

mod committed;
mod conformance;
mod dependencies;
mod documents;
mod floors;
mod library;
