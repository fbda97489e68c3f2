//! Pull and merge requests on code hosts.
