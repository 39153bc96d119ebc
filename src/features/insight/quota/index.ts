/** Plan limits and their usage (docs/concepts/quota.md). */
