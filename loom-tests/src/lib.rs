//! Model checks of the concurrent protocols.
