//! Readers of files, one format each. They stream: no file is held in memory as a whole, and nothing is allocated that the bytes actually
//! there do not warrant.
