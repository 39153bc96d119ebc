/** Privacy: erasure of accounts and people, and data exports. */
