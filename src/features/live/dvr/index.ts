/**
 * History of live streams: the part of a live broadcast that viewers can seek back to
 * (docs/decisions/dvr.md).
 */
