//! Run directories, the journal, verdict files, the ledger and memory.
